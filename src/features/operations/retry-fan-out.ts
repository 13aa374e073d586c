import { noSuchAction } from '../../feed/page/read-actions.ts';
import type { Core } from '../../core/core.ts';
import { reportedFanOut, type Action, type ActionId } from '../../domain/action.ts';
import { FanfareError } from '../../domain/errors.ts';
import { areBeside, hasNeighbours } from '../../domain/stored-id.ts';
import type { Identity } from '../../domain/viewer.ts';
import { requireRole } from '../../core/validate.ts';
import { clock } from '../../lib/clock.ts';

/** @throws FanfareError FORBIDDEN, NOT_FOUND, CONFLICT when the fan-out has not failed. */
export async function retryFanOut(
  { actions, fanOuts, workSignal }: Core,
  identity: Identity,
  id: ActionId,
): Promise<Action> {
  requireRole(identity, 'admin');
  if (hasNeighbours(identity.userId)) await refuseOthers(actions, identity, id);
  const retried = await fanOuts.retry(id, clock.now());
  if (retried !== null) {
    workSignal.notify('fan-out');
    return retried;
  }
  const [action] = await actions.findByIds([id]);
  if (action === undefined) throw noSuchAction();
  throw new FanfareError(
    'CONFLICT',
    `The fan-out has not failed, it is ${reportedFanOut(action.fanOut).state}`,
  );
}

async function refuseOthers(actions: Core['actions'], { userId }: Identity, id: ActionId): Promise<void> {
  const [action] = await actions.findByIds([id]);
  if (action === undefined || !areBeside(action.actorId, userId)) throw noSuchAction();
}
