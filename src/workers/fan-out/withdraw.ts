import { clock } from '../../lib/clock.ts';
import { announce, removals } from '../../feeds/announce.ts';
import type { Claim } from '../../storage/fan-out/fan-outs.ts';
import { announceWithdrawalInPass, notAddressed } from './announce-withdrawal.ts';
import type { Fence } from './fence.ts';
import type { PassOutcome } from './pass-outcome.ts';
import { notifyFormer } from './sweep-holders.ts';
import type { PassContext } from './pass-context.ts';

/** Watchers in the audience were notified at its commit. Readers who have it for a past reason are notified at removal. */
export async function withdrawFromAll(
  dependencies: PassContext,
  claim: Claim,
  fence: Fence,
): Promise<PassOutcome> {
  const { feedStore, chunkSize, gate } = dependencies;
  const { action, untoldVersion } = claim;
  if (untoldVersion !== null) await announceWithdrawalInPass(dependencies, action, clock.now());
  await notifyFormer(dependencies, claim);
  for (;;) {
    if (!(await fence.isHeld())) return { kind: 'void', reached: null };
    if (fence.isStopping()) return { kind: 'stopped' };
    const count = await gate.run({ lane: claim.lane, kind: 'fan-out' }, async () => {
      const userIds = await feedStore.holders(action.id, { limit: chunkSize });
      // Notify before removing: a worker that dies in between notifies again. The rules already hide the action.
      const untold = await notAddressed(dependencies, action, userIds);
      await announce(dependencies, removals(action.id, untold, clock.now()));
      await feedStore.remove(userIds, [action.id]);
      return userIds.length;
    });
    if (count < chunkSize) return { kind: 'complete', delivered: 0 };
  }
}
