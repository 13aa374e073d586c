/** How often in a row a process may fail to answer before it counts as one that hangs. */
const TIMES = 3;

/**
 * Asks a process for a sign of life until it has given none for this long, or a third longer. What is counted is questions
 * rather than time: when the machine itself has slept, one of them at most goes without an answer.
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
      // Silence is what is counted.
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
