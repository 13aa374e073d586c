/** Consecutive unanswered questions after which a process counts as hanging. */
const TIMES = 3;

/**
 * Asks a process for signs of life until it has given none for this long, or up to a third longer. Counts questions instead
 * of time: after the machine itself was suspended, at most one question is unanswered.
 * @param onSilence called once.
 */
export function watchLife(
  ask: (withinMs: number) => Promise<unknown>,
  withinMs: number,
  onSilence: () => void,
): Disposable {
  const eachMs = withinMs / TIMES;
  let missed = 0;
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    let hasAnswered = false;
    ask(eachMs).then(
      () => {
        hasAnswered = true;
      },
      // Counts as silence.
      () => undefined,
    );
    timer = setTimeout(() => {
      missed = hasAnswered ? 0 : missed + 1;
      if (missed < TIMES) look();
      else onSilence();
    }, eachMs);
  };
  look();
  return {
    [Symbol.dispose]() {
      clearTimeout(timer);
    },
  };
}
