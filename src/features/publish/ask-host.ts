import type { UserId } from '../../domain/action.ts';
import { FanfareError } from '../../domain/errors.ts';
import type { Ask } from '../../domain/hook.ts';
import { inHostForm } from '../../domain/stored-id.ts';

/**
 * Whether the host holds something, with ids in the host's form.
 * @throws FanfareError FORBIDDEN if the host refuses it, UNAVAILABLE if it does not answer and the setting is `closed`
 */
export async function isHeld<T extends object>(ask: Ask<T>, actorId: UserId, what: T): Promise<boolean> {
  const answer = await ask(inHostForm(actorId, what));
  if (answer.verdict === 'refuse') throw new FanfareError('FORBIDDEN', answer.message);
  return answer.verdict === 'hold';
}
