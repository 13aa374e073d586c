/** Waits before what has failed is done again, in ms. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

/**
 * Does something until it succeeds.
 * @param onFailure what it throws ends the attempts
 * @returns undefined when it was over before
 */
export async function insist<T>(
  act: () => T | Promise<T>,
  isOver: () => boolean,
  onFailure: (error: unknown) => void = () => undefined,
): Promise<T | undefined> {
  for (let wait = FIRST_WAIT_MS; !isOver(); wait = Math.min(LONGEST_WAIT_MS, wait * 2)) {
    try {
      return await act();
    } catch (error) {
      onFailure(error);
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
  return undefined;
}
