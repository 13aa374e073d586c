import type { ActionId } from '../../domain/action.ts';
import { Gate } from '../../lib/gate.ts';

interface Place {
  readonly seq: number;
  readonly actionId: ActionId | null;
}

export const CONCURRENT_REQUESTS = 8;

/** Processes events of different actions concurrently, and those of one action together and in order. */
export async function inTurns<T>(
  values: readonly T[],
  placeOf: (value: T) => Place,
  work: (some: readonly T[]) => Promise<void>,
): Promise<void> {
  const turns = new Map<ActionId | number, T[]>();
  for (const value of values) {
    const { seq, actionId } = placeOf(value);
    const turn = turns.get(actionId ?? seq);
    if (turn === undefined) turns.set(actionId ?? seq, [value]);
    else turn.push(value);
  }
  const gate = new Gate(CONCURRENT_REQUESTS);
  const bySeq = (a: T, b: T): number => placeOf(a).seq - placeOf(b).seq;
  const done = await Promise.allSettled(
    [...turns.values()].map((turn) => gate.run(() => work(turn.sort(bySeq)))),
  );
  for (const end of done) if (end.status === 'rejected') throw end.reason;
}
