/** A place in a call at which a test stops it, so that other calls come in between. */
export interface Held {
  /** Resolves when the call has come there. */
  readonly isReached: Promise<void>;
  /** What the call does there: it waits until it is let go. */
  readonly wait: () => Promise<void>;
  readonly letGo: () => void;
}

export function hold(): Held {
  let reached = (): void => undefined;
  let letGo = (): void => undefined;
  const isReached = new Promise<void>((resolve) => (reached = resolve));
  const isLetGo = new Promise<void>((resolve) => (letGo = resolve));
  return {
    isReached,
    wait() {
      reached();
      return isLetGo;
    },
    letGo: () => letGo(),
  };
}
