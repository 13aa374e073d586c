import type { MuteKind } from '../../src/domain/mute.ts';
import type { JobRunner } from '../../src/jobs/job.ts';
import { muteEnds } from '../../src/features/mutes/jobs/mute-ends.ts';
import { runnerOf } from './jobs.ts';
import type { Parts } from './parts.ts';

/** As if it had been muted until then. Default: a moment ago. */
export async function letMuteEnd(
  { database }: Pick<Parts, 'database'>,
  userId: string,
  { kind, value }: { readonly kind: MuteKind; readonly value: string },
  at = new Date(Date.now() - 1_000),
): Promise<void> {
  const { modifiedCount } = await database.collections.feeds.updateOne(
    { _id: userId },
    { $set: { 'mutes.$[one].until': at, muteEnd: { due: at } } },
    { arrayFilters: [{ 'one.kind': kind, 'one.value': value }] },
  );
  if (modifiedCount !== 1) throw new Error('Nothing is muted');
}

export function muteEndsWorker({ core }: Pick<Parts, 'core'>, leaseMs = 30_000): JobRunner {
  return runnerOf(muteEnds, core, { fanOut: { leaseMs } });
}
