/** Time limit for closing after a signal, in milliseconds. */
export const CLOSE_WITHIN_MS = 10_000;
/** Under npm a Ctrl-C arrives twice: from the terminal, and forwarded by npm. */
const SAME_SIGNAL_MS = 1_000;
export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

type Signal = (typeof SIGNALS)[number];

export interface SignalHandlers {
  readonly onFirst: (signal: Signal) => void;
  readonly onFurther: (signal: Signal) => void;
  /** Default: none. */
  readonly ignored?: readonly NodeJS.Signals[];
}

/** Handles the first SIGINT, SIGTERM or SIGHUP, and further ones, for the lifetime of the process. */
export function onSignals({ onFirst, onFurther, ignored = [] }: SignalHandlers): void {
  let firstAt: number | null = null;
  for (const signal of SIGNALS)
    process.on(signal, () => {
      if (ignored.includes(signal)) return;
      if (firstAt === null) {
        firstAt = performance.now();
        onFirst(signal);
      } else if (performance.now() - firstAt >= SAME_SIGNAL_MS) onFurther(signal);
    });
}
