import type { Core } from '../../core/core.ts';
import type { Action, ActionId, FanOutState, RefId, UserId } from '../../domain/action.ts';
import { decodeId, decodePosition, encodeId, encodePosition } from '../../domain/cursor.ts';
import { FanfareError } from '../../domain/errors.ts';
import type { Member } from '../../domain/member.ts';
import { areBeside, idBeside } from '../../domain/stored-id.ts';
import { isEntitled } from '../../domain/visibility.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import { actionsOf, followsOfOne, learnOfActions } from './hydration.ts';
import { actionConditions, checkActionFilter, passesActionFilter } from './filters.ts';
import { entitledActions } from './entitled.ts';
import { List } from './list.ts';
import { MAX_FOUND_AMONG, withWords } from './text-filter.ts';
import type { Stretch } from '../../storage/documents/keyset.ts';
import { once } from '../../lib/once.ts';
import { askedPage } from './paging.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import { requireOneOf, validate } from '../../core/validate.ts';
import type { ActionFilter, CountedPage, PageArgs } from '../../core/shapes.ts';
import { NO_BLOCKS, type Blocks } from '../../domain/block.ts';
import { isAffectedByBlocks, isTrusted, moderates, type Follow, type Identity } from '../../domain/viewer.ts';
import { clock } from '../../lib/clock.ts';
import { ACTION } from '../session/load.ts';
import type { SliceEntry, SliceQuery } from '../../storage/actions/actions.ts';

/**
 * Visible actions of a ref, newest first. One round trip if the process has cached the actions and names, and the reader's follow
 * of the ref decides; otherwise one more for each.
 * @throws BAD_USER_INPUT, BAD_CURSOR
 */
export async function readSlice(
  { actions, feeds }: Core,
  session: ReaderSession,
  refId: RefId,
  args: PageArgs & { readonly filter?: ActionFilter | null | undefined },
): Promise<CountedPage<Action>> {
  const id = validate(idSchema, refId, ['refId']);
  const filter = checkActionFilter(args.filter);
  const list = `slice:${id}`;
  const page = askedPage(args, (cursor) => {
    const { time, actionId } = decodePosition(list, cursor);
    return { conducted: time, id: actionId };
  });
  const ofSlice = { ...filter, refId: id };
  let known: readonly Follow[] = [];
  async function read(query: SliceQuery): Promise<readonly SliceEntry[]> {
    if (session.directoryStamp !== null) return actions.slice(query);
    const knownAt = clock.now();
    const found = await actions.sliceWithReader(query, session.identity.userId);
    const { member, directoryStamp } = found;
    session.know({ asOf: knownAt, marks: feeds.marksIn(found.feed), member, directoryStamp });
    if (found.follow !== null) known = [found.follow];
    return found.entries;
  }
  const slice = new List<{ readonly conducted: Date; readonly id: ActionId }, SliceEntry, Action>({
    idOf: (entry) => entry.id,
    // `conducted` never changes, so positions never become stale.
    isAt: () => true,
    ...newestOf(filter, placeOfSlice, (stretch) =>
      read({
        ...stretch,
        ...actionConditions(ofSlice),
        refId: id,
        ...(filter.since === null ? {} : { since: filter.since }),
        ...(filter.until === null ? {} : { until: filter.until }),
      }),
    ),
    async select(entries) {
      const found = await actionsOf(
        session,
        entries.map(({ id: actionId, rev }) => ({ actionId, rev })),
      );
      // One that was not cached may have been edited since.
      const current = found.flatMap((action) =>
        action !== null && passesActionFilter(ofSlice, action) ? [action] : [],
      );
      return withWords(session, filter.text, await entitledActions(session, current, known));
    },
  });
  return slice.page({
    page,
    cursorOf: (action) => encodePosition(list, { time: action.conducted, actionId: action.id }),
  });
}

/**
 * One action, or `null` when it does not exist or is not visible; both cost the same. One round trip when visibility does
 * not depend on follows, otherwise two.
 */
export async function getAction(session: ReaderSession, id: ActionId): Promise<Action | null> {
  const [action, profile] = await Promise.all([session.load(ACTION, id), session.profile()]);
  await learnOfActions(session, profile, [action], []);
  if (action !== null && isEntitled(profile, action, [])) return action;
  const follows = await followsOfOne(session, action);
  return action !== null && isEntitled(profile, action, follows) ? action : null;
}

/** Whether the identity may edit an action: its actor, services and admins may. */
export function mayEdit(identity: Identity, { actorId }: Pick<Action, 'actorId'>): boolean {
  return actorId === identity.userId || isTrusted(identity);
}

/** The same, and what is scheduled, to callers that may edit it. No further round trip. */
export async function getActionOrScheduled(session: ReaderSession, id: ActionId): Promise<Action | null> {
  return (await getAction(session, id)) ?? (await getScheduled(session, id));
}

/** An action that is scheduled, to callers that may edit it. */
export async function getScheduled(session: ReaderSession, id: ActionId): Promise<Action | null> {
  const action = await session.load(ACTION, id);
  return action?.publishAt !== undefined && mayEdit(session.identity, action) ? action : null;
}

/** `getAction` for callers that are about to change something. @throws FanfareError NOT_FOUND */
export async function requireAction(session: ReaderSession, id: ActionId): Promise<Action> {
  const action = await getAction(session, id);
  if (action === null) throw noSuchAction();
  return action;
}

/** An action that a reader may see. */
export interface VisibleAction {
  readonly action: Action;
  /** Members that were read together with it. */
  readonly members: readonly Member[];
  /** The member who was read, whether or not there is one. */
  readonly areRead: ReadonlySet<UserId>;
  /** The reader's blocks, as far as they are known. */
  readonly blocks: Blocks;
}

/**
 * The same for a write that takes nothing else of the reader but blocks. One round trip if they may see it, and the action alone tells
 * so, or the process knows who and what else decides; otherwise two, with three queries, whatever the answer.
 * @param alsoRead members to be read as well; with any, also the action's actor, if the process knows who that is
 * @throws FanfareError NOT_FOUND
 */
export async function findVisible(
  { actions, actionCache, members }: Core,
  session: ReaderSession,
  id: ActionId,
  alsoRead: readonly UserId[] = [],
): Promise<VisibleAction> {
  const { identity } = session;
  const { userId } = identity;
  const before = actionCache.before(id);
  const viewer = { userId, isAdmin: moderates(identity), member: null, blocks: NO_BLOCKS };
  const isAsked = before !== null && !isEntitled(viewer, before, []);
  const areRead = new Set([...alsoRead, ...(isAsked ? [userId] : [])]);
  if (areRead.size > 0 && before !== null) areRead.add(before.actorId);
  const read = await actions.findWith({
    id,
    blocksOf: isAffectedByBlocks(identity) ? userId : null,
    memberIds: [...areRead],
    follows: isAsked ? { followerId: userId, refIds: before.refIds } : null,
  });
  const action = read.action !== null && areBeside(read.action.actorId, userId) ? read.action : null;
  if (action !== null) actionCache.keep([action]);
  const memberIn = (found: readonly Member[]): Member | null =>
    found.find((one) => one.userId === userId) ?? null;
  const reader = { ...viewer, member: memberIn(read.members), blocks: read.blocks };
  await learnOfActions(session, reader, [action], []);
  if (action !== null && isEntitled(reader, action, read.follows))
    return { action, members: read.members, areRead, blocks: read.blocks };
  const both = new Set([userId, action?.actorId ?? userId]);
  const [found, follows] = await Promise.all([members.findFew([...both]), followsOfOne(session, action)]);
  if (action === null || !isEntitled({ ...reader, member: memberIn(found) }, action, follows))
    throw noSuchAction();
  return { action, members: found, areRead: both, blocks: read.blocks };
}

export function noSuchAction(): FanfareError {
  return new FanfareError('NOT_FOUND', 'There is no such action');
}

/** All actions, newest first, for admins and services. @throws FORBIDDEN, BAD_USER_INPUT, BAD_CURSOR */
export async function listActions(
  { actions }: Core,
  session: ReaderSession,
  args: PageArgs & {
    readonly fanOutState?: FanOutState | null | undefined;
    readonly includeHidden?: boolean | null | undefined;
    readonly filter?: ActionFilter | null | undefined;
  },
): Promise<CountedPage<Action>> {
  requireOneOf(session.identity, ['admin', 'service']);
  const filter = checkActionFilter(args.filter);
  const { userId } = session.identity;
  const list = idBeside(userId, 'actions');
  const all = new List<{ readonly id: ActionId }, Action, Action>({
    idOf: (action) => action.id,
    isAt: () => true,
    ...newestOf(filter, byId, (stretch) =>
      actions.list({
        beside: userId,
        state: args.fanOutState ?? null,
        includeHidden: args.includeHidden ?? false,
        ...stretch,
        ...actionConditions(filter),
        ...(filter.since === null ? {} : { since: filter.since }),
        ...(filter.until === null ? {} : { until: filter.until }),
      }),
    ),
    // The query excludes deleted actions but not those that expired meanwhile.
    select: (candidates) =>
      withWords(
        session,
        filter.text,
        candidates.filter(({ isDeleted }) => !isDeleted),
      ),
  });
  return all.page({
    page: askedPage(args, (cursor) => ({ id: decodeId(list, cursor) })),
    cursorOf: (action) => encodeId(list, action.id),
  });
}

type InOrder<P> = (one: P, other: P) => number;
const byId: InOrder<{ readonly id: ActionId }> = (one, other) => compareIds(other.id, one.id);
const placeOfSlice: InOrder<{ readonly conducted: Date; readonly id: ActionId }> = (one, other) =>
  other.conducted.getTime() - one.conducted.getTime() || compareIds(other.id, one.id);

const compareIds = (one: ActionId, other: ActionId): number => (one < other ? -1 : one === other ? 0 : 1);

/** Scans a list, only its first entries if words are looked for. */
function newestOf<P, C extends P>(
  { text }: { readonly text: unknown },
  order: InOrder<P>,
  scan: (stretch: Stretch<P>) => Promise<readonly C[]>,
): { readonly scan: typeof scan; readonly isCut?: () => boolean } {
  if (text === null) return { scan };
  const found = once(() => scan({ from: null, isUp: false, limit: MAX_FOUND_AMONG + 1 }));
  let isCut = false;
  return {
    isCut: () => isCut,
    async scan({ from, isUp, limit }) {
      const all = await found();
      isCut = all.length > MAX_FOUND_AMONG;
      const newest = all.slice(0, MAX_FOUND_AMONG);
      const isNext = (entry: C): boolean => from === null || order(from, entry) * (isUp ? -1 : 1) < 0;
      return (isUp ? newest.toReversed() : newest).filter(isNext).slice(0, limit);
    },
  };
}
