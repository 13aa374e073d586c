import { onceFor } from '../../../src/lib/once-for.ts';
import type { Core } from '../../../src/core/core.ts';
import { learnBlocks } from '../../../src/feed/loads/own-blocks.ts';
import { decodeRow, encodeRow } from '../../../src/domain/cursor.ts';
import { FanfareError } from '../../../src/domain/errors.ts';
import {
  CHANNELS,
  isKeptAway,
  keptAway,
  isRead,
  isReadThrough,
  isSeen,
  MAX_COUNTED,
  NOTIFICATION_WINDOW_MS,
  parseNotificationKey,
  preferenceOf,
  preferencesOf,
  type Channel,
  type NotificationGroup,
  type NotificationKind,
  type NotificationPosition,
} from '../../../src/domain/notification.ts';
import { INTERACTION_KINDS } from '../../../src/domain/relevancy.ts';
import { notificationDefaults } from '../../../src/descriptors/registry.ts';
import type { Context } from '../../../src/feed/context.ts';
import { List } from '../../../src/feed/page/list.ts';
import { askedPage, pageOf } from '../../../src/feed/page/paging.ts';
import type { Stretch } from '../../../src/storage/documents/keyset.ts';
import { entitledActions } from '../../../src/feed/page/entitled.ts';
import { liveCursorOf } from '../../../src/feed/page/read-page.ts';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';
import { sessionBatches } from '../../../src/feed/session/session-batches.ts';
import { clock } from '../../../src/lib/clock.ts';
import type { Page, PageArgs, UnreadCount } from '../../../src/core/shapes.ts';
import { countActorsOf } from './store/actors.ts';
import { MOST_EVENTS } from './store/pairs.ts';
import type { Notification } from './groups.ts';
import { NotificationFilter, type NotificationFilterInput } from './filter.ts';
import type { FoundPage } from './kept-lists.ts';
import { MAX_WINDOW, NotificationRead, type Wanted } from './notification-read.ts';
import type { NotificationState } from './store/states.ts';

export interface NotificationPage extends Page<Notification> {
  /** Taken before the read; `null` unless requested. */
  readonly liveCursor: string | null;
  /** Groups with an event that the reader has not seen, from the same read as the page. */
  readonly countUnseen: () => Promise<UnreadCount>;
  /** The same for groups that the reader has not read. */
  readonly countUnread: () => Promise<UnreadCount>;
}

/**
 * The groups that the reader may see and has not switched off for all of these channels, in the same order. One round trip for their
 * actions; one more where follows decide about them.
 */
async function shown(
  read: NotificationRead,
  groups: readonly NotificationGroup[],
  filter: NotificationFilter,
  channels: readonly Channel[],
): Promise<Notification[]> {
  const { state } = await read.opened();
  const ids = [...new Set(groups.flatMap(({ actionId }) => actionId ?? []))];
  const loaded = (await read.actions(ids)).filter((action) => action?.isHidden === false);
  const entitled = await entitledActions(
    read.session,
    loaded.filter((action) => action !== null),
  );
  const actions = new Map(entitled.map((action) => [action.id, action]));
  const areOn = new Map<string, boolean>();
  const isOn = (kind: NotificationKind, type: string | null): boolean => {
    const known = areOn.get(`${kind} ${type ?? ''}`);
    if (known !== undefined) return known;
    const is = channels.some(
      (channel) => preferenceOf(notificationDefaults(), state.preferences, { kind, type, channel }).isOn,
    );
    areOn.set(`${kind} ${type ?? ''}`, is);
    return is;
  };
  return groups.flatMap((group) => {
    const { kind, actionId } = group;
    const action = actionId === null ? null : (actions.get(actionId) ?? null);
    if (action === null && actionId !== null) return [];
    if (!isOn(kind, action?.descriptor.type ?? null)) return [];
    const one: Notification = {
      ...{ userId: read.session.identity.userId, group, action },
      ...{ isSeen: isSeen(state, group), isRead: isRead(state, group), version: read.versionOf(group) },
    };
    return filter.passes(one) ? [one] : [];
  });
}

const LISTED: readonly Channel[] = ['IN_APP'];

/** The part of a list that the filter and the preferences leave, as far as that is known before its groups are. */
function wantedBy(filter: NotificationFilter): Wanted {
  const areOn = onceFor(({ preferences }: NotificationState) => {
    const listed = preferencesOf(notificationDefaults(), preferences);
    return new Set(listed.flatMap(({ kind, channel, isOn }) => (isOn && channel === 'IN_APP' ? kind : [])));
  });
  return {
    wants: (state, kind) => filter.ofKind(kind) && areOn(state).has(kind),
    isOver: (state, bound) => filter.isOver(state, bound),
  };
}

/** One read of a list: its page, and what of it is unseen and unread. */
class NotificationList extends List<NotificationPosition, NotificationGroup, Notification> {
  readonly #read: NotificationRead;
  readonly #counted: number;

  /** @param counted number of groups that are read for the counts; 0: they are not needed. */
  constructor(read: NotificationRead, filter: NotificationFilter, counted: number) {
    super({
      scan: (stretch) => read.next(stretch),
      select: (groups) => shown(read, groups, filter, LISTED),
      idOf: (one) => ('group' in one ? one.group.key : one.key),
      isAt: (group, { at }) => group.at.getTime() === at.getTime(),
    });
    this.#read = read;
    this.#counted = counted;
  }

  override async scan(stretch: Stretch<NotificationPosition>): Promise<readonly NotificationGroup[]> {
    // The counts need the top, whatever page it is.
    if (this.#counted > 0) await this.readDown(this.#counted, await this.#isOver());
    return super.scan(stretch);
  }

  /** Sources say how far nothing counts that they have not read yet. */
  protected override async readDown(
    length: number,
    isOver: (group: NotificationPosition) => boolean,
  ): Promise<void> {
    const { groups, bound } = await this.#read.reach();
    const isKnown = bound !== null && isOver({ at: bound, key: '' });
    await this.readUpTo(isKnown ? Math.min(length, groups) : length);
  }

  /** Whether no group that comes later is counted. */
  async #isOver(): Promise<(group: NotificationPosition) => boolean> {
    const { state } = await this.#read.opened();
    return (group) => isSeen(state, group) && isReadThrough(state, group);
  }

  /** Decides what the counts need in the same round trip. */
  override async select(groups: readonly NotificationGroup[]): Promise<Notification[]> {
    return super.select(groups, await this.counting(this.#counted, await this.#isOver()));
  }

  countUnseen(): Promise<UnreadCount> {
    return this.#count(isSeen, (one) => !one.isSeen);
  }

  countUnread(): Promise<UnreadCount> {
    return this.#count(isReadThrough, (one) => !one.isRead);
  }

  /** @param isOver whether no later group is counted either. */
  async #count(
    isOver: (state: NotificationState, group: NotificationPosition) => boolean,
    isCounted: (one: Notification) => boolean,
  ): Promise<UnreadCount> {
    const { state } = await this.#read.opened();
    let count = 0;
    await this.countDown({
      most: MAX_COUNTED,
      isOver: (group) => isOver(state, group),
      add: (all) => (count += all.filter(isCounted).length),
    });
    return { count: Math.min(count, MAX_COUNTED), isExact: count <= MAX_COUNTED };
  }
}

/**
 * The notifications of the reader, newest first, in groups. Everything is decided when it is read. Two round trips; one more for a
 * reader with blocks, one more where follows decide whether the reader may see an action, and more where much is left out.
 * @throws FanfareError BAD_USER_INPUT, BAD_CURSOR
 */
export async function readNotifications(
  core: Core,
  session: ReaderSession,
  args: PageArgs & {
    readonly filter?: NotificationFilterInput | null | undefined;
    /** The counts are needed: read enough for them together with the page. */
    readonly withCounts?: boolean | undefined;
    readonly withLiveCursor?: boolean | undefined;
  },
): Promise<NotificationPage> {
  const { userId } = session.identity;
  const filter = new NotificationFilter(args.filter);
  const list = `notifications:${userId}`;
  const asked = askedPage(args, (cursor) => decodePlace(list, cursor));
  const { size, isUp, from } = asked;
  const liveCursor = args.withLiveCursor === true ? await liveCursorOf(core, userId) : null;
  const counted = args.withCounts === true ? MOST_EVENTS : 0;
  // Sources are read from the top: where they go on below a group does not follow from its place.
  const depth = from?.depth ?? 0;
  const shown = isUp ? Math.max(depth, size + 1) : depth + size + 1;
  const groups = Math.max(counted, shown);
  const read = new NotificationRead(core, session, {
    ...{ groups, shown, list: filter.key },
    ...wantedBy(filter),
  });
  const notifications = new NotificationList(read, filter, counted);
  const what = JSON.stringify([from, isUp, size]);
  const make = async (): Promise<FoundPage> => {
    const { edges, hasMore } = await notifications.page({ page: asked, cursorOf: () => '' });
    const complete = await read.complete(edges.map(({ node }) => node.group));
    const end = from === null ? (await read.reach()).groups : depth - 1;
    const above = isUp ? Math.max(0, end - edges.length) : depth;
    const made = complete.map((node, index) => ({
      node,
      cursor: encodePlace(list, { ...node, depth: above + index + 1 }),
    }));
    return pageOf(isUp ? made.reverse() : made, { isUp, hasMore });
  };
  const decide = (one: FoundPage) => notifications.select(one.edges.map(({ node }) => node));
  let page = await read.page(what, make);
  let nodes = await decide(page);
  // An action that is not cached may have changed since the answer.
  if (nodes.length < page.edges.length) nodes = await decide((page = await make()));
  const edges = nodes.map((node, index) => {
    const { node: group = node.group, cursor = '' } = page.edges[index] ?? {};
    return { cursor, node: { ...node, group, version: read.versionOf(group) } };
  });
  return {
    ...{ ...page, edges, liveCursor },
    countUnseen: () => read.count(`unseen ${what}`, () => notifications.countUnseen()),
    countUnread: () => read.count(`unread ${what}`, () => notifications.countUnread()),
  };
}

interface Place extends NotificationPosition {
  /** Number of groups above it and with it, as far as they are read at once. */
  readonly depth: number;
}

function encodePlace(list: string, { at, key, depth }: Place): string {
  return encodeRow(list, [at, depth, key]);
}

/** @throws FanfareError BAD_CURSOR */
function decodePlace(list: string, cursor: string): Place {
  const [at, depth, key] = decodeRow(list, cursor, ['time', 'number', 'text']);
  if (parseNotificationKey(key) === null)
    throw new FanfareError('BAD_CURSOR', 'The cursor does not belong to this list');
  // Only says how much to read at once; a forged one costs no more than a deep page.
  return { at, key, depth: Math.min(Math.max(0, Math.trunc(depth)), MAX_WINDOW) };
}

/**
 * Single groups as they are now; `null`: there is none, or the reader may not see it.
 * @param channels at least one of them is on. Default: those of the list.
 */
export async function findNotifications(
  core: Context,
  session: ReaderSession,
  keys: readonly string[],
  channels = LISTED,
): Promise<(Notification | null)[]> {
  const only = keys.flatMap((key) => parseNotificationKey(key) ?? []);
  if (only.length === 0) return keys.map(() => null);
  const read = new NotificationRead(core, session, { groups: only.length + 1, only });
  const groups = await read.complete(await read.next({ from: null, limit: only.length, isUp: false }));
  const found = new Map(
    (await shown(read, groups, new NotificationFilter(null), channels)).map((one) => [one.group.key, one]),
  );
  return keys.map((key) => found.get(key) ?? null);
}

/** A group by its key, whatever channel it is on for. Those that a session requests in one turn of the event loop are read together. */
export const getNotification = sessionBatches<string, Notification | null>(
  (core, session, keys) => findNotifications(core, session, keys, CHANNELS),
  (key) => key,
);

const actors = onceFor(({ events }: NotificationGroup): readonly string[] => [
  ...new Set(events.flatMap(({ actorId }) => actorId ?? [])),
]);

/** The members who did it: distinct, newest first. */
export const actorsOf = ({ group }: Notification): readonly string[] => actors(group);

/** Number of events, exact to 100. */
export function countEvents({ group: { events } }: Notification): UnreadCount {
  return { count: Math.min(events.length, MAX_COUNTED), isExact: events.length <= MAX_COUNTED };
}

/** Number of distinct actors of the events that were read; not exact if there are more events. */
export function countNewestActors(notification: Notification): UnreadCount {
  const { isExact } = countEvents(notification);
  return { count: Math.min(actorsOf(notification).length, MAX_COUNTED), isExact };
}

/** Upper bound on events that are counted to count their actors. */
const MOST_COUNTED_EVENTS = 1_000;

const actorsOfGroups = sessionBatches<NotificationGroup, UnreadCount | null>(
  async (core, session, groups) => {
    const pairs = groups.flatMap(({ kind, actionId }) => {
      const interaction = INTERACTION_KINDS.find((one) => one === kind);
      return interaction === undefined || actionId === null ? [] : [{ actionId, kind: interaction }];
    });
    const profile = await session.profile();
    const found = await countActorsOf(core.collections, session.identity.userId, pairs, {
      without: keptAway(profile),
      since: new Date(clock.time() - NOTIFICATION_WINDOW_MS),
      limit: MOST_COUNTED_EVENTS,
      // Some may be left out for a block; where all blocks are known, none is.
      most: profile.blocks.isWhole ? MOST_COUNTED_EVENTS : 2 * MAX_COUNTED,
    });
    await learnBlocks(
      session,
      profile,
      found.flatMap(({ actors }) => actors),
    );
    const counts = new Map(
      found.map(({ actionId, kind, actors, members, events }) => {
        const count = actors.filter((actorId) => !isKeptAway(profile, actorId)).length;
        const isExact = events < MOST_COUNTED_EVENTS && actors.length === members && count <= MAX_COUNTED;
        return [`${kind}:${actionId}`, { count: Math.min(count, MAX_COUNTED), isExact }];
      }),
    );
    return groups.map(({ kind, actionId }) => counts.get(`${kind}:${actionId ?? ''}`) ?? null);
  },
  ({ key }) => key,
);

/**
 * Number of distinct actors, exact to 100, of at most the newest thousand events. Read only if one of them did it several times, among
 * more than a hundred events, and for all groups that a session asks for in one turn of the event loop together.
 */
export async function countActors(
  core: Core,
  session: ReaderSession,
  notification: Notification,
): Promise<UnreadCount> {
  const known = countNewestActors(notification);
  if (known.isExact || actorsOf(notification).length > MAX_COUNTED) return known;
  return (await actorsOfGroups(core, session, notification.group)) ?? known;
}
