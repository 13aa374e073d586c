import { z } from 'zod';
import type { Action } from '../../domain/action.ts';
import { badInput, FanfareError } from '../../domain/errors.ts';
import { INTERACTION_KINDS, MAX_FUTURE_MS } from '../../domain/relevancy.ts';
import type { Identity } from '../../domain/viewer.ts';
import { idSchema } from '../../descriptors/define.ts';
import type { WorkSignal } from '../../realtime/work-signal.ts';
import type { ActionsRepository } from '../../storage/actions.ts';
import type { InteractionsRepository } from '../../storage/interactions.ts';
import type { MembersRepository } from '../../storage/members.ts';
import { getAction } from '../feed/read-actions.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import { actingAs } from '../roles.ts';
import type { RecordInteractionInput } from '../services.ts';
import { validate } from '../validate.ts';
import { clock } from '../../lib/clock.ts';

export interface RecordInteractionDependencies {
  readonly actions: Pick<ActionsRepository, 'markInteraction'>;
  readonly interactions: Pick<InteractionsRepository, 'insert'>;
  readonly members: Pick<MembersRepository, 'findByIds'>;
  readonly workSignal: Pick<WorkSignal, 'notify'>;
  readonly newToken: () => string;
  readonly openSession: (identity: Identity) => ReaderSession;
}

const inputSchema = z.strictObject({
  kind: z.enum(INTERACTION_KINDS),
  actorId: idSchema.nullish(),
  idempotencyKey: idSchema.nullish(),
  at: z.date().nullish(),
});

/**
 * Records that somebody commented on, liked or reshared an action, which boosts it in the feeds of the people concerned.
 * The insert is the commit point; counts and boosts are derived from it. With a key, or for likes without one, a
 * repetition counts once.
 * @throws FanfareError BAD_USER_INPUT, FORBIDDEN, NOT_FOUND when the actor may not see the action, no matter who records it
 */
export async function recordInteraction(
  dependencies: RecordInteractionDependencies,
  session: ReaderSession,
  { actionId, ...input }: RecordInteractionInput,
): Promise<Action> {
  const { identity } = session;
  const { kind, actorId, idempotencyKey, at } = validate(inputSchema, input, ['input']);
  const actor = actorId ?? identity.userId;
  const actingIdentity = actingAs(identity, actor, 'record');
  const now = clock.now();
  if (at != null && at.getTime() > now.getTime() + MAX_FUTURE_MS)
    throw badInput('Must not be more than five minutes in the future', ['input', 'at']);
  const acting = actingIdentity === identity ? session : dependencies.openSession(actingIdentity);
  const action = await getAction(acting, actionId);
  if (action === null) throw notFound();

  const time = at == null || at.getTime() > now.getTime() ? now : at;
  const isNew = await dependencies.interactions.insert({
    actionId,
    kind,
    actorId: actor,
    key: keyOf(dependencies, { kind, actor, idempotencyKey: idempotencyKey ?? null }),
    departmentIds: await departmentsOf(dependencies, [actor, action.actorId]),
    at: time,
  });
  // Also for a repetition: the call it repeats may have been cut off before this.
  const marked = await dependencies.actions.markInteraction(actionId, {
    kind,
    isNew,
    at: time,
    now,
  });
  if (marked === null) throw notFound();
  dependencies.workSignal.notify();
  return marked;
}

function notFound(): FanfareError {
  return new FanfareError('NOT_FOUND', 'There is no such action');
}

function keyOf(
  { newToken }: Pick<RecordInteractionDependencies, 'newToken'>,
  of: { readonly kind: string; readonly actor: string; readonly idempotencyKey: string | null },
): string {
  if (of.idempotencyKey !== null) return JSON.stringify([of.actor, of.idempotencyKey]);
  return of.kind === 'LIKE' ? JSON.stringify([of.actor]) : newToken();
}

async function departmentsOf(
  { members }: Pick<RecordInteractionDependencies, 'members'>,
  userIds: readonly string[],
): Promise<string[]> {
  const found = await members.findByIds([...new Set(userIds)]);
  return [...new Set(found.flatMap((member) => member.departmentId ?? []))].sort();
}
