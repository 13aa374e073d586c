/** Waits until all have settled, then rejects if any failed. @param message used when several failed. */
export async function allEnded(endings: readonly Promise<unknown>[], message: string): Promise<void> {
  const ended = await Promise.allSettled(endings);
  const failures = ended.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, message);
}
