import { z } from 'zod';
import type { RefId } from '../../domain/action.ts';
import type { Ref } from '../../domain/member.ts';
import type { Identity } from '../../domain/viewer.ts';
import { badInput } from '../../domain/errors.ts';
import { idSchema } from '../../descriptors/define.ts';
import type { ActionsRepository } from '../../storage/actions.ts';
import type { CountEpochs } from '../../storage/follower-counts.ts';
import type { FollowPair } from '../../storage/follow-reads.ts';
import type { FollowsRepository, NewSpan } from '../../storage/follows.ts';
import { checkCount } from '../members/directory.ts';
import { requireRole } from '../roles.ts';
import type { FollowInput } from '../shapes.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import { settleFollows, type SettleFollowsDependencies } from './settle-follows.ts';
import { validate } from '../validate.ts';
import { clock } from '../../lib/clock.ts';

export const DEFAULT_COPY_LIMIT = 100;
export const MAX_COPY_LIMIT = 1_000;

export interface FollowDependencies extends SettleFollowsDependencies {
  readonly actions: Pick<ActionsRepository, 'nthNewest' | 'recordedSince' | 'findByIds'>;
  readonly follows: SettleFollowsDependencies['follows'] & Pick<FollowsRepository, 'open' | 'unsettled'>;
}

/**
 * Opens a follow span from now, or from the `copyLimit`-th newest past action of the ref. Following what is followed
 * brings that history where it is not there yet, and completes a follow that was cut off.
 * @throws FanfareError BAD_USER_INPUT
 */
export async function follow(
  dependencies: FollowDependencies,
  session: ReaderSession,
  refId: string,
  copyLimit: number | null | undefined,
): Promise<Ref> {
  const id = validate(idSchema, refId, ['refId']);
  const count = copyLimit ?? DEFAULT_COPY_LIMIT;
  if (!Number.isInteger(count) || count < 0 || count > MAX_COPY_LIMIT)
    throw badInput(`Must be from 0 to ${String(MAX_COPY_LIMIT)}, got ${String(count)}`, ['copyLimit']);
  const followerId = session.identity.userId;
  const now = clock.now();
  const [oldest, epochs] = await Promise.all([
    count === 0 ? null : dependencies.actions.nthNewest(id, count),
    dependencies.followerCounts.epochs([id]),
  ]);
  const span: NewSpan =
    oldest === null || oldest.recorded.getTime() > now.getTime()
      ? { followerId, refId: id, since: now }
      : { followerId, refId: id, since: oldest.recorded, sinceAction: oldest.id };
  await open(dependencies, [span], epochs);
  return refOf(session, id);
}

/** A ref as it is known; one that nobody described has neither type nor label. */
export async function refOf(session: ReaderSession, refId: RefId): Promise<Ref> {
  return (await session.refs.load(refId)) ?? { refId, type: null, label: null, followerCount: 0 };
}

/**
 * Opens follow spans on behalf of members, from now.
 * @throws FanfareError FORBIDDEN, BAD_USER_INPUT
 */
export async function followMany(
  dependencies: FollowDependencies,
  identity: Identity,
  inputs: readonly FollowInput[],
): Promise<number> {
  requireRole(identity, 'service');
  const pairs = validate(
    z.array(z.strictObject({ followerId: idSchema, refId: idSchema })),
    checkCount(inputs, 'pairs').map((pair) => ({ ...pair })),
    ['pairs'],
  );
  const since = clock.now();
  const different = new Map(pairs.map((pair) => [JSON.stringify([pair.followerId, pair.refId]), pair]));
  const spans = [...different.values()].map((pair) => ({ ...pair, since }));
  const refIds = [...new Set(spans.map(({ refId }) => refId))];
  if (spans.length > 0) await open(dependencies, spans, await dependencies.followerCounts.epochs(refIds));
  return inputs.length;
}

/** The write that opens the spans is the commit point; the mark it leaves lets a retry complete what follows. */
async function open(
  dependencies: FollowDependencies,
  spans: readonly NewSpan[],
  epochs: CountEpochs,
): Promise<void> {
  const tokens = { opened: dependencies.newToken(), extended: dependencies.newToken() };
  await dependencies.follows.open(spans, tokens);
  const pairs: FollowPair[] = spans.map(({ followerId, refId }) => ({ followerId, refId }));
  await settleFollows(dependencies, await dependencies.follows.unsettled(pairs), { tokens, epochs });
}
