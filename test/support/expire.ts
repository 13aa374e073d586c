import { ObjectId } from 'mongodb';
import { ExpiryWorker } from '../../src/workers/expiry/expiry-worker.ts';
import { MemoryWorkSignal } from '../../src/realtime/work-signal.ts';
import type { Parts } from './parts.ts';
import { revised } from '../../src/storage/stages/revision.ts';

/** As if the action had been published until then. Default: a moment ago. What is deleted already stays so. */
export async function letExpire(
  { database }: Pick<Parts, 'database'>,
  actionId: string,
  at = new Date(Date.now() - 1_000),
): Promise<void> {
  await database.collections.actions.updateOne(
    { _id: new ObjectId(actionId), isDeleted: false },
    revised({ $set: { expiresAt: at } }),
  );
}

/** @param onError default: throws, so that the round fails */
export function expiryWorker({
  core,
  onError = (error) => {
    throw error;
  },
}: Pick<Parts, 'core'> & { readonly onError?: (error: unknown) => void }): ExpiryWorker {
  return new ExpiryWorker({ ...core, workSignal: new MemoryWorkSignal() }, { pollMs: 60_000, onError });
}
