/**
 * Waits for all of them to end, also where another one fails. Rejects then, with what failed.
 * @param message of the error where several failed.
 */
export async function allEnded(endings: readonly Promise<unknown>[], message: string): Promise<void> {
  const ended = await Promise.allSettled(endings);
  const failures = ended.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, message);
}
