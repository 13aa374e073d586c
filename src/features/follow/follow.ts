import { newObjectId } from '../../storage/database/mongo.ts';
import type { Core } from '../../core/core.ts';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { FollowedRef } from '../../feed/loads/own-follows.ts';
import type { Follow, Identity } from '../../domain/viewer.ts';
import { badInput, FanfareError } from '../../domain/errors.ts';
import { endedSpans, MAX_SPANS, openSpanOf } from '../../domain/follow-span.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import type { FollowPair } from '../../storage/documents/follow-document.ts';
import type { NewSpan } from './store/follows.ts';
import { typeSchema } from '../../feed/page/filters.ts';
import { checkCount } from '../directory/directory.ts';
import { requireRole, validate } from '../../core/validate.ts';
import type { FollowInput } from '../../core/shapes.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { announceFollowers, announceListChange } from '../../feed/announce.ts';
import { settleFollows, type FollowsBegun } from './settle-follows.ts';
import { mayBeBlocked, nobodyNamed } from '../../feed/loads/own-blocks.ts';
import type { BlockId } from '../../storage/documents/block-document.ts';
import { refOf } from '../directory/read-directory.ts';
import { clock } from '../../lib/clock.ts';
import { once } from '../../lib/once.ts';

export const DEFAULT_COPY_LIMIT = 100;
export const MAX_COPY_LIMIT = 1_000;
export const MAX_FOLLOW_TYPES = 100;

/** Declared types, sorted and without duplicates, so that equal choices are stored as equal lists. */
const followTypesSchema = z
  .array(typeSchema)
  .min(1, 'Must name at least one type; null means all types')
  .max(MAX_FOLLOW_TYPES, `Must have at most ${String(MAX_FOLLOW_TYPES)} entries`)
  .transform((types) => [...new Set(types)].sort())
  .nullish();

/**
 * Opens a follow span that starts now, or at the `copyLimit`-th newest past action of the ref with one of the types.
 * Following an already followed ref adds history that is still missing, and completes an interrupted follow. Different types
 * end the current span; items it brought stay.
 * @param copyLimit absent or null: 100.
 * @param given the types; null: all types. Absent: unchanged.
 * @throws FanfareError BAD_USER_INPUT, CONFLICT for more than 200 spans
 */
export async function follow(
  core: Core,
  session: ReaderSession,
  refId: string,
  copyLimit: number | null | undefined,
  given?: readonly string[] | null,
): Promise<FollowedRef> {
  const id = validate(idSchema, refId, ['refId']);
  const types = validate(followTypesSchema, given, ['types']);
  const count = copyLimit ?? DEFAULT_COPY_LIMIT;
  if (!Number.isInteger(count) || count < 0 || count > MAX_COPY_LIMIT)
    throw badInput(`Must be from 0 to ${String(MAX_COPY_LIMIT)}, got ${String(count)}`, ['copyLimit']);
  const followerId = session.identity.userId;
  const now = clock.now();
  const {
    block,
    known,
    epochs,
    oldest: ofAll,
    newest,
  } = await core.followStarts.start(
    { followerId, refId: id },
    { count, withBlock: mayBeBlocked(session.identity, id) },
  );
  if (block !== null) {
    if (block.isOwn) throw new FanfareError('NOT_FOUND', 'There is no such ref');
    const pretended = await followNobody(core, session, { followerId, refId: id, types }, block.followed);
    // The block has ended meanwhile.
    return pretended ?? follow(core, session, refId, copyLimit, given);
  }
  checkSpans([{ followerId, refId: id, types }], known === null ? [] : [{ ...known, followerId }]);
  const taken = types === undefined ? (openSpanOf(known)?.types ?? null) : types;
  const oldest =
    count > 0 && (ofAll === undefined || (ofAll !== null && taken !== null))
      ? await core.actions.nthNewest(id, count, taken)
      : ofAll;
  const span: NewSpan =
    oldest == null || oldest.recorded.getTime() > now.getTime()
      ? { followerId, refId: id, types, since: now }
      : { followerId, refId: id, types, since: oldest.recorded, sinceAction: oldest.id };
  const pairs = known === null ? [] : [span];
  const { opened, counted } = await open(core, [span], {
    ...{ epochs, now, known: pairs, newest },
    withBlocks: mayBeBlocked(session.identity, id),
  });
  const ref: FollowedRef = counted ?? (await refOf(session, id));
  const [own] = opened;
  return {
    ...ref,
    ...(own === undefined ? {} : { own }),
    // Refs that nobody has described get their names from actions.
    ...(counted?.label === null ? { named: once(() => refOf(session, id)) } : {}),
  };
}

const pairsSchema = z.array(
  z.strictObject({
    followerId: idSchema,
    refId: idSchema,
    types: followTypesSchema,
    isAssigned: z
      .boolean()
      .nullish()
      .transform((isAssigned) => isAssigned ?? undefined),
  }),
);

/**
 * Opens follow spans on behalf of members, starting now, and sets their options; absent options stay unchanged. Different
 * types end the current span; items it brought stay. Pairs between whom there is a block are passed over.
 * @throws FanfareError FORBIDDEN, BAD_USER_INPUT, CONFLICT for more than 200 spans of one follow. Nothing is written then
 */
export async function followMany(
  core: Core,
  identity: Identity,
  inputs: readonly FollowInput[],
): Promise<number> {
  requireRole(identity, 'service');
  const pairs = validate(
    pairsSchema,
    checkCount(inputs, 'pairs').map((pair) => ({ ...pair })),
    ['pairs'],
  );
  const now = clock.now();
  const given = inOrder(pairs).map((pair): NewSpan => ({ ...pair, since: now }));
  // It has no effect between members with a block, and none when that ends: there is nothing that could take it up again.
  const blocked = await core.blocks.findPairs(given.map((pair) => blockOf(pair)));
  const kept = new Set(blocked.map(({ userId, otherId }) => JSON.stringify({ userId, otherId })));
  const spans = given.filter((pair) => !kept.has(JSON.stringify(blockOf(pair))));
  if (spans.length === 0) return inputs.length;
  const assigned = spans.filter(({ isAssigned }) => isAssigned === true);
  const known = await core.follows.findPairs(spans);
  checkSpans(spans, known);
  const [epochs] = await Promise.all([
    core.followerCounts.epochs([...new Set(spans.map(({ refId }) => refId))]),
    // Set before the assignments: boosts take assigned follows into account only for readers with this flag.
    core.feeds.markFollows([...new Set(assigned.map(({ followerId }) => followerId))], { hasAssigned: true }),
  ]);
  await open(core, spans, { epochs, now, known });
  return inputs.length;
}

function blockOf({ followerId, refId }: FollowPair): BlockId {
  return { userId: followerId, otherId: refId };
}

type Pair = z.output<typeof pairsSchema>[number];

/** Each pair once, with the last value of each option: as if they had been given one after another. */
function inOrder(pairs: readonly Pair[]): Pair[] {
  const different = new Map<string, Pair>();
  for (const pair of pairs) {
    const key = JSON.stringify([pair.followerId, pair.refId]);
    const { types, isAssigned } = different.get(key) ?? pair;
    different.set(key, {
      ...pair,
      types: pair.types === undefined ? types : pair.types,
      isAssigned: pair.isAssigned ?? isAssigned,
    });
  }
  return [...different.values()];
}

/** As if nobody had the id: it is followed, and brings nothing. `null`: there is no block any more. */
async function followNobody(
  core: Core,
  session: ReaderSession,
  pair: Omit<NewSpan, 'since'>,
  followed: Follow | null,
): Promise<FollowedRef | null> {
  const { followerId, refId, types } = pair;
  const known = followed ?? { refId, active: false, spans: [] };
  checkSpans([pair], [{ ...known, followerId }]);
  const open = openSpanOf(known);
  const isChanged = types !== undefined && !isDeepStrictEqual(types, open?.types ?? null);
  if (open !== null && !isChanged) return nobodyNamed(session, refId, known);
  const now = clock.now();
  const spans = [...endedSpans(known, now), { since: now, ...(types == null ? {} : { types }) }];
  const next = { refId, active: true, spans };
  if (!(await core.blocks.setFollowed(pair, next))) return null;
  if (open !== null) await announceListChange(core, [followerId], 'membership');
  return nobodyNamed(session, refId, next);
}

/** Rejects spans beyond the limit of a follow. Concurrent calls may exceed the limit by one each. */
function checkSpans(
  pairs: readonly Omit<NewSpan, 'since'>[],
  follows: readonly (Follow & FollowPair)[],
): void {
  const full = follows.filter(({ spans }) => spans.length >= MAX_SPANS);
  for (const { followerId, refId, types } of full.length === 0 ? [] : pairs) {
    const known = full.find((follow) => follow.followerId === followerId && follow.refId === refId);
    if (known === undefined) continue;
    const isSame = types === undefined || isDeepStrictEqual(types, openSpanOf(known)?.types ?? null);
    if (!known.active || !isSame)
      throw new FanfareError(
        'CONFLICT',
        `A follow can be restarted or change its types at most ${String(MAX_SPANS - 1)} times. ` +
          'Unfollowing with keepHistory: false resets this',
      );
  }
}

/** The write that opens the spans is the commit point. It leaves a mark that lets a retry complete the remaining steps. */
async function open(
  core: Core,
  spans: readonly NewSpan[],
  own: Omit<FollowsBegun, 'tokens'> & {
    readonly now: Date;
    readonly known: readonly FollowPair[];
  },
) {
  const tokens = { opened: newObjectId(), extended: newObjectId(), changed: newObjectId() };
  const opened = await core.follows.open(spans, tokens, own);
  const counted = await settleFollows(core, opened, { ...own, tokens });
  // Nothing is announced to members who were followed already.
  await announceFollowers(
    core,
    opened.map(({ refId }) => refId),
    true,
  );
  return { opened, counted };
}
