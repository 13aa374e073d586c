import type { Core } from '../../../src/features/core.ts';
import { z } from 'zod';
import type { Action, ActionId } from '../../../src/domain/action.ts';
import { decodeCursor, encodeCursor } from '../../../src/domain/cursor.ts';
import { FanfareError } from '../../../src/domain/errors.ts';
import {
  compareNotifications,
  isKeptAway,
  keptAway,
  isRead,
  isReadThrough,
  isSeen,
  MAX_COUNTED,
  NOTIFICATION_KINDS,
  NOTIFICATION_WINDOW_MS,
  notificationKey,
  parseNotificationKey,
  preferenceOf,
  type Channel,
  type NotificationEvent,
  type NotificationGroup,
  type NotificationKind,
  type NotificationPosition,
} from '../../../src/domain/notification.ts';
import { NO_MUTES } from '../../../src/domain/mute.ts';
import { INTERACTION_KINDS, type InteractionKind } from '../../../src/domain/relevancy.ts';
import type { ReaderProfile } from '../../../src/domain/viewer.ts';
import { notificationDefaults } from '../../../src/descriptors/registry.ts';
import type { Context } from '../../../src/feed/context.ts';
import { List } from '../../../src/feed/page/list.ts';
import { pageSize } from '../../../src/feed/page/paging.ts';
import { entitledActions } from '../../../src/feed/page/read-actions.ts';
import { liveCursorOf } from '../../../src/feed/page/read-page.ts';
import { ACTION, seesFanOut } from '../../../src/feed/session/load.ts';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';
import { clock } from '../../../src/lib/clock.ts';
import type { Page, PageArgs, UnreadCount } from '../../../src/features/shapes.ts';
import { validate } from '../../../src/features/validate.ts';
import {
  notificationsOf,
  MOST_EVENTS,
  NOTHING_BESIDE,
  notificationsOf,
  SOURCES,
  type Only,
  type Pair,
  type PairRow,
  type PairToRead,
  type ReadBeside,
  type Source,
  type SourcePlace,
  type SourceQuery,
  type SourceRow,
  type SourcesRead,
} from './store/notifications.ts';
import type { NotificationState } from './store/states.ts';

/** A group as the reader is shown it. */
export interface Notification {
  readonly userId: string;
  readonly group: NotificationGroup;
  readonly action: Action | null;
  readonly isSeen: boolean;
  readonly isRead: boolean;
}

export interface NotificationFilter {
  readonly kinds?: readonly NotificationKind[] | null | undefined;
  readonly unreadOnly?: boolean | null | undefined;
  /** Newest event at this time or later. */
  readonly since?: Date | null | undefined;
  /** Newest event before this time. */
  readonly until?: Date | null | undefined;
}

export interface NotificationPage extends Page<Notification> {
  /** Taken before the read; `null` unless requested. */
  readonly liveCursor: string | null;
  /** Groups with an event that the reader has not seen, from the same read as the page. */
  readonly countUnseen: () => Promise<UnreadCount>;
  /** The same for groups that the reader has not read. */
  readonly countUnread: () => Promise<UnreadCount>;
}

interface Builder {
  readonly kind: NotificationKind;
  readonly actionId: string | null;
  readonly refId: string | null;
  readonly events: Map<string, NotificationEvent>;
}

interface Reading {
  readonly limit: number;
  readonly place: SourcePlace | null;
  /** No document that was not read yet has a later time; -Infinity: all were read. */
  readonly bound: number;
}

/** Interactions that concern a member, and followers, that are read at first: each group may have many. */
const USUAL_EVENTS = 2 * MOST_EVENTS;
/** Documents of a source that are read at once. */
const MAX_WINDOW = 2_000;
/** Actions that are read beside them at once. */
const MAX_ACTIONS = 500;
const DAY_MS = 86_400_000;

/**
 * One read of what concerns a reader, in the order of the list. Reads its sources in windows, each in its own order of time,
 * and merges them by group. The place of a group is final once no source can still have a newer event.
 */
export class NotificationRead {
  readonly #core: Context;
  readonly #session: ReaderSession;
  readonly #since: Date;
  readonly #only: Only;
  readonly #withMuted: boolean;
  readonly #size: Readonly<Record<'groups' | 'shown', number>>;
  readonly #groups = new Map<string, Builder>();
  /** Revisions of actions that were read with it. */
  readonly #revisions = new Map<ActionId, number>();
  /** There is more of what others did with actions of the reader than was read at once. */
  #isOwnedFull = false;
  /** What of it was read one by one, by key of the notification. */
  readonly #pairs = new Set<string>();
  /** All that there may be of the actions that were read. */
  readonly #waiting = new Map<string, PairToRead>();
  readonly #sources: Map<Source, Reading>;
  #opened: { readonly profile: ReaderProfile; readonly state: NotificationState } | null = null;
  #sorted: NotificationGroup[] = [];

  /** @param options.groups number of groups that are needed at least. `shown`: those of them that are needed with all events. */
  constructor(
    core: Context,
    session: ReaderSession,
    options: {
      readonly groups: number;
      readonly shown?: number;
      readonly only?: Only;
      readonly since?: Date;
      /** Also what members did whom the reader mutes. */
      readonly withMuted?: boolean;
    },
  ) {
    this.#core = core;
    this.#session = session;
    this.#since = options.since ?? new Date(clock.time() - NOTIFICATION_WINDOW_MS);
    this.#only = options.only ?? null;
    this.#withMuted = options.withMuted ?? false;
    const groups = Math.min(MAX_WINDOW, options.groups);
    this.#size = { groups, shown: options.shown ?? groups };
    const limitOf = (source: Source): number =>
      source === 'owned' || source === 'to' || source === 'followers'
        ? Math.max(USUAL_EVENTS, groups)
        : groups;
    this.#sources = new Map(
      SOURCES.map((source) => [source, { limit: limitOf(source), place: null, bound: Infinity }]),
    );
  }

  /** The reader, and how far they have seen and read. */
  async opened(): Promise<{ readonly profile: ReaderProfile; readonly state: NotificationState }> {
    if (this.#opened === null) await this.#readOn();
    if (this.#opened === null) throw new Error('Nothing was read');
    return this.#opened;
  }

  /** The next groups after a position. Fewer than `limit` means the end. */
  async after(position: NotificationPosition | null, limit: number): Promise<NotificationGroup[]> {
    for (;;) {
      const bound = this.#bound();
      const found: NotificationGroup[] = [];
      for (const group of this.#sorted) {
        if (group.at.getTime() <= bound || found.length === limit) break;
        if (position === null || compareNotifications(position, group) < 0) found.push(group);
      }
      if (found.length === limit || bound === -Infinity) return found;
      await this.#readOn();
    }
  }

  /** The groups with all of their events that are counted. No command unless a reader has very many. */
  async complete(groups: readonly NotificationGroup[]): Promise<NotificationGroup[]> {
    const open = groups.filter((group) => this.#isOpen(group));
    if (open.length === 0) return [...groups];
    const from = (['to', 'followers'] as const).map((source) => {
      const place = this.#sources.get(source)?.place ?? null;
      return [source, { limit: MOST_EVENTS * open.length, place }] as const;
    });
    const only = open.flatMap(({ key }) => parseNotificationKey(key) ?? []);
    const query = { ...this.#query(new Map(from)), only };
    await this.#add(
      await notificationsOf(this.#core).readOn(query, { ...NOTHING_BESIDE, pairs: this.#pairsOf(open) }),
    );
    const known = new Map(this.#sorted.map((group) => [group.key, group]));
    return groups.map((group) => ({ ...group, events: known.get(group.key)?.events ?? group.events }));
  }

  /** The actions in their order; `null`: there is none for the reader. No command for those that are cached as they were read. */
  actions(ids: readonly ActionId[]): Promise<(Action | null)[]> {
    return Promise.all(ids.map((id) => this.#cached(id) ?? this.#session.load(ACTION, id)));
  }

  #cached(id: ActionId): Action | null {
    const rev = this.#revisions.get(id);
    return rev === undefined ? null : this.#session.cached(id, rev);
  }

  /** Whether it may have more events than were read, and than are counted. */
  #isOpen({ kind, key, events }: NotificationGroup): boolean {
    if (events.length >= MOST_EVENTS) return false;
    if (kind === 'REPLY' || kind === 'MENTION') return this.#boundOf('to') !== -Infinity;
    if (kind === 'FOLLOW')
      return this.#boundOf('followers') >= Date.parse(parseNotificationKey(key)?.of ?? '');
    return this.#isOwnedFull && isPair(kind) && !this.#pairs.has(key);
  }

  /** No document of the source that was not read yet has a later time. */
  #boundOf(source: Source): number {
    // Until it is read what others did with them, one by one, that is known as far as it was read at once.
    if (source === 'own' && this.#sources.get('owned')?.bound !== -Infinity) return -Infinity;
    return this.#sources.get(source)?.bound ?? -Infinity;
  }

  #bound(): number {
    return Math.max(...SOURCES.map((source) => this.#boundOf(source)));
  }

  #query(from: SourceQuery['from']): SourceQuery {
    return { userId: this.#session.identity.userId, since: this.#since, from, only: this.#only };
  }

  async #readOn(): Promise<void> {
    if (this.#opened === null) {
      await this.#open();
      return;
    }
    const notifications = notificationsOf(this.#core);
    // What lies below the others is not needed before they have been read to there.
    const highest = this.#bound();
    const next = [...this.#sources].filter(([source]) => this.#boundOf(source) === highest);
    const from = new Map(next.filter(([source]) => source !== 'owned'));
    const isOwned = from.size < next.length;
    const beside = this.#beside(isOwned ? this.#unread() : []);
    await this.#take(from, await notifications.readOn(this.#query(from), beside));
    if (from.has('own'))
      await this.#add(await notifications.readOn(this.#query(new Map()), this.#beside(this.#unread())));
    if (isOwned) this.#closeOwned();
  }

  async #open(): Promise<void> {
    const { pulledRefs } = this.#core;
    const notifications = notificationsOf(this.#core);
    const pulled = await pulledRefs.known();
    const opened = await notifications.open(
      this.#query(this.#sources),
      pulled.size > MAX_WINDOW ? [] : [...pulled],
    );
    const { pulledFollows, ...reader } = opened.reader;
    this.#session.know(pulled.size > MAX_WINDOW ? reader : { ...reader, pulledFollows });
    const profile = await this.#session.profile();
    this.#opened = {
      profile: this.#withMuted ? { ...profile, mutes: NO_MUTES } : profile,
      state: opened.state,
    };
    await this.#take(this.#sources, opened);
    this.#isOwnedFull = this.#boundOf('owned') !== -Infinity;
    if (this.#isOwnedFull) await this.#readPairs();
    else this.#closeOwned();
  }

  /** What others did with actions of the reader as far as it was not read at once, together with the actions that are needed. */
  async #readPairs(): Promise<void> {
    const { groups, shown } = this.#size;
    const bound = this.#bound();
    const known = this.#sorted.filter(({ at }) => at.getTime() > bound);
    const isEnough = known.length >= groups;
    const pairs = isEnough
      ? this.#pairsOf(known.slice(0, shown).filter((group) => this.#isOpen(group)))
      : this.#unread();
    await this.#add(await notificationsOf(this.#core).readOn(this.#query(new Map()), this.#beside(pairs)));
    if (!isEnough) this.#closeOwned();
  }

  /** Everything is known of the actions of the reader that were read, and what is later than the last that was read at once. */
  #closeOwned(): void {
    const [owned, own] = (['owned', 'own'] as const).map((source) => this.#sources.get(source));
    if (owned === undefined || own === undefined) return;
    this.#sources.set('own', { ...own, bound: Math.min(own.bound, owned.bound) });
    this.#sources.set('owned', { ...owned, bound: -Infinity });
  }

  #unread(): PairToRead[] {
    return [...this.#waiting.values()].filter((pair) => !this.#pairs.has(keyOf(pair)));
  }

  /** What others did with actions of the reader: one by one. */
  #pairsOf(groups: readonly NotificationGroup[]): PairToRead[] {
    return groups.flatMap(({ key, kind, actionId }) =>
      actionId === null || !isPair(kind)
        ? []
        : [this.#waiting.get(key) ?? { actionId, kind, count: Infinity }],
    );
  }

  #beside(pairs: readonly PairToRead[]): ReadBeside {
    const ids = [
      ...this.#sorted.flatMap(({ actionId }) => actionId ?? []),
      ...pairs.map(({ actionId }) => actionId),
    ];
    // Actions with the progress of their delivery are not cached.
    const actionIds = seesFanOut(this.#session.identity)
      ? []
      : [...new Set(ids)].filter((id) => this.#cached(id) === null);
    return { pairs, actionIds: actionIds.slice(0, MAX_ACTIONS) };
  }

  /** Adds the rows, and notes where each source goes on. */
  async #take(from: ReadonlyMap<Source, Reading>, read: SourcesRead): Promise<void> {
    await this.#add(read);
    const { rows } = read;
    for (const [source, { limit, place }] of from) {
      const own = rows.filter((row) => row.source === source);
      const last = own.at(-1);
      if (last === undefined || own.length < limit) {
        this.#sources.set(source, { limit, place, bound: -Infinity });
        continue;
      }
      const before = this.#dayBefore(last) ?? last.time;
      const known = place?.before.getTime() === before.getTime() ? place.except : [];
      const except = own.filter(({ time }) => time.getTime() === before.getTime()).map(({ id }) => id);
      this.#sources.set(source, {
        limit: Math.min(MAX_WINDOW, limit * 2),
        place: { before, except: [...known, ...except] },
        bound: before.getTime(),
      });
    }
  }

  /** Where followers go on if there are enough of this day. */
  #dayBefore(row: SourceRow): Date | null {
    if (row.source !== 'followers') return null;
    const ofDay = this.#groups.get(notificationKey('FOLLOW', row.time));
    if (ofDay === undefined || ofDay.events.size < MOST_EVENTS) return null;
    return new Date(Math.floor(row.time.getTime() / DAY_MS) * DAY_MS - 1);
  }

  async #add({ rows, pairs, actions = [] }: SourcesRead): Promise<void> {
    for (const pair of pairs) {
      this.#pairs.add(keyOf(pair));
      for (const event of await this.#newest(pair)) this.#put(pair.kind, pair.actionId, event);
    }
    this.#core.actionCache.keep(actions);
    for (const { id, rev } of actions) this.#revisions.set(id, rev);
    for (const { id, rev, pairs: ofAction, event } of rows) {
      if (rev !== null) this.#revisions.set(id, rev);
      for (const pair of ofAction) this.#waiting.set(keyOf(pair), pair);
      if (event !== null) this.#put(event.kind, event.of, event, event.refId);
    }
    this.#sorted = Array.from(this.#groups, ([key, group]) => groupOf(key, group)).sort(compareNotifications);
  }

  /** What others did with an action of the reader. Those of members who are kept away are replaced by older ones. */
  async #newest({ actionId, kind, events }: PairRow): Promise<readonly NotificationEvent[]> {
    const { profile } = await this.opened();
    if (events.length < MOST_EVENTS || !events.some(({ actorId }) => isKeptAway(profile, actorId)))
      return events;
    const found = await notificationsOf(this.#core).interactionsOf(
      profile.userId,
      { actionId, kind },
      { without: keptAway(profile), since: this.#since, limit: MOST_EVENTS },
    );
    return found.map((event) => ({ ...event, interactionId: event.id }));
  }

  #put(
    kind: NotificationKind,
    of: string | Date,
    { id, actorId, at, interactionId }: NotificationEvent,
    refId: string | null = null,
  ): void {
    if (this.#opened === null || isKeptAway(this.#opened.profile, actorId)) return;
    if (at.getTime() < this.#since.getTime()) return;
    const key = notificationKey(kind, of);
    if (this.#only?.every((one) => `${one.kind}:${one.of}` !== key) === true) return;
    const actionId = typeof of === 'string' && kind !== 'ASSIGNED' ? of : null;
    const group = this.#groups.get(key) ?? {
      kind,
      actionId,
      refId,
      events: new Map<string, NotificationEvent>(),
    };
    group.events.set(id, { id, actorId, at, interactionId });
    this.#groups.set(key, group);
  }
}

const keyOf = ({ kind, actionId }: Pair): string => notificationKey(kind, actionId);

const isPair = (kind: NotificationKind): kind is InteractionKind =>
  INTERACTION_KINDS.some((one) => one === kind);

function groupOf(key: string, { kind, actionId, refId, events }: Builder): NotificationGroup {
  const newest = [...events.values()]
    .sort((a, b) => b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1))
    .slice(0, MOST_EVENTS);
  return { key, kind, actionId, refId, at: newest[0]?.at ?? new Date(0), events: newest };
}

const filterSchema = z.object({
  kinds: z.array(z.enum(NOTIFICATION_KINDS)).nullish(),
  unreadOnly: z.boolean().nullish(),
  since: z.date().nullish(),
  until: z.date().nullish(),
});

/** @throws FanfareError BAD_USER_INPUT */
export function checkNotificationFilter(filter: NotificationFilter | null | undefined): NotificationFilter {
  return validate(filterSchema, { ...filter }, ['filter']);
}

export function passes({ kinds, unreadOnly, since, until }: NotificationFilter, one: Notification): boolean {
  const { kind, at } = one.group;
  return (
    (kinds == null || kinds.includes(kind)) &&
    (unreadOnly !== true || !one.isRead) &&
    (since == null || at.getTime() >= since.getTime()) &&
    (until == null || at.getTime() < until.getTime())
  );
}

/**
 * The groups that the reader may see and has not switched off for all of these channels, in the same order. One round trip for their actions; one more
 * where follows decide about them.
 */
async function shown(
  session: ReaderSession,
  read: NotificationRead,
  groups: readonly NotificationGroup[],
  filter: NotificationFilter,
  channels: readonly Channel[],
): Promise<Notification[]> {
  const { state } = await read.opened();
  const ids = [...new Set(groups.flatMap(({ actionId }) => actionId ?? []))];
  const loaded = (await read.actions(ids)).filter((action) => action?.isHidden === false);
  const entitled = await entitledActions(
    session,
    loaded.filter((action) => action !== null),
  );
  const actions = new Map(entitled.map((action) => [action.id, action]));
  return groups.flatMap((group) => {
    const { kind, actionId } = group;
    const action = actionId === null ? null : (actions.get(actionId) ?? null);
    if (action === null && actionId !== null) return [];
    const type = action?.descriptor.type ?? null;
    const isOn = (channel: Channel): boolean =>
      preferenceOf(notificationDefaults(), state.preferences, { kind, type, channel }).isOn;
    if (!channels.some(isOn)) return [];
    const one: Notification = {
      ...{ userId: session.identity.userId, group, action },
      ...{ isSeen: isSeen(state, group), isRead: isRead(state, group) },
    };
    return passes(filter, one) ? [one] : [];
  });
}

const LISTED: readonly Channel[] = ['IN_APP'];

/** One read of a list: its page, and what of it is unseen and unread. */
class NotificationList extends List<NotificationPosition, NotificationGroup, Notification> {
  readonly #read: NotificationRead;
  readonly #counted: number;

  /** @param firstRead number of groups that are read for the counts; 0: they are not needed. */
  constructor(session: ReaderSession, read: NotificationRead, filter: NotificationFilter, firstRead: number) {
    super({
      scan: (after, limit) => read.after(after, limit),
      select: (groups) => shown(session, read, groups, filter, LISTED),
      idOf: (one) => ('group' in one ? one.group.key : one.key),
      isAt: (group, { at }) => group.at.getTime() === at.getTime(),
      firstRead,
    });
    this.#read = read;
    this.#counted = firstRead;
  }

  override async scan(
    after: NotificationPosition | null,
    limit: number,
  ): Promise<readonly NotificationGroup[]> {
    // The counts need the top, whatever page it is.
    if (this.#counted > 0) await this.readUpTo(this.#counted);
    return super.scan(after, limit);
  }

  /** What the counts need is decided in the same round trip. */
  override async select(groups: readonly NotificationGroup[]): Promise<Notification[]> {
    const { state } = await this.#read.opened();
    const isOver = (group: NotificationGroup): boolean => isSeen(state, group) && isReadThrough(state, group);
    return super.select(groups, upTo(this.read(0, this.#counted), isOver));
  }

  async countUnseen(): Promise<UnreadCount> {
    const { state } = await this.#read.opened();
    return this.#count(
      (group) => isSeen(state, group),
      (one) => !one.isSeen,
    );
  }

  async countUnread(): Promise<UnreadCount> {
    const { state } = await this.#read.opened();
    return this.#count(
      (group) => isReadThrough(state, group),
      (one) => !one.isRead,
    );
  }

  /** @param isOver whether no later group is counted either. */
  async #count(
    isOver: (group: NotificationGroup) => boolean,
    isCounted: (one: Notification) => boolean,
  ): Promise<UnreadCount> {
    let count = 0;
    for (let looked = 0; count <= MAX_COUNTED; looked += MOST_EVENTS) {
      await this.readUpTo(looked + MOST_EVENTS);
      const next = this.read(looked, looked + MOST_EVENTS);
      const open = upTo(next, isOver);
      count += (await this.select(open)).filter(isCounted).length;
      if (open.length < MOST_EVENTS) break;
    }
    return { count: Math.min(count, MAX_COUNTED), isExact: count <= MAX_COUNTED };
  }
}

function upTo<T>(list: readonly T[], isOver: (one: T) => boolean): readonly T[] {
  const end = list.findIndex(isOver);
  return end === -1 ? list : list.slice(0, end);
}

/**
 * What concerns the reader, newest first, in groups. Everything is decided when it is read. Two round trips; one more for a
 * reader with blocks, one more where follows decide whether the reader may see an action, and more where much is left out.
 * @throws FanfareError BAD_USER_INPUT, BAD_CURSOR
 */
export async function readNotifications(
  core: Core,
  session: ReaderSession,
  args: PageArgs & {
    readonly filter?: NotificationFilter | null | undefined;
    /** The counts are needed: read enough for them together with the page. */
    readonly withCounts?: boolean | undefined;
    readonly withLiveCursor?: boolean | undefined;
  },
): Promise<NotificationPage> {
  const { userId } = session.identity;
  const size = pageSize(args.first);
  const filter = checkNotificationFilter(args.filter);
  const list = `notifications:${userId}`;
  const after = args.after == null ? null : decodePlace(list, args.after);
  const liveCursor = args.withLiveCursor === true ? await liveCursorOf(core, userId) : null;
  const counted = args.withCounts === true ? MOST_EVENTS : 0;
  // Sources are read from the top: where they go on below a group does not follow from its place.
  const depth = after?.depth ?? 0;
  const shown = depth + size + 1;
  const read = new NotificationRead(core, session, { groups: Math.max(counted, shown), shown });
  const notifications = new NotificationList(session, read, filter, counted);
  const { edges, ...page } = await notifications.page({ size, after, cursorOf: () => '' });
  const complete = await read.complete(edges.map(({ node }) => node.group));
  const nodes = edges.map(({ node }, index) => ({ ...node, group: complete[index] ?? node.group }));
  const withCursors = nodes.map((node, index) => ({
    node,
    cursor: encodePlace(list, { ...node.group, depth: depth + index + 1 }),
  }));
  return {
    ...page,
    edges: withCursors,
    endCursor: withCursors.at(-1)?.cursor ?? null,
    liveCursor,
    countUnseen: () => notifications.countUnseen(),
    countUnread: () => notifications.countUnread(),
  };
}

interface Place extends NotificationPosition {
  /** Number of groups above it and with it, as far as they are read at once. */
  readonly depth: number;
}

const PLACE_BYTES = 8 + 4;

function encodePlace(list: string, { at, key, depth }: Place): string {
  const bytes = Buffer.alloc(PLACE_BYTES);
  bytes.writeDoubleBE(at.getTime(), 0);
  bytes.writeUInt32BE(depth, 8);
  return encodeCursor(list, Buffer.concat([bytes, Buffer.from(key)]));
}

/** @throws FanfareError BAD_CURSOR */
function decodePlace(list: string, cursor: string): Place {
  const payload = decodeCursor(list, cursor);
  const key = payload.toString('utf8', PLACE_BYTES);
  if (payload.length < PLACE_BYTES || parseNotificationKey(key) === null)
    throw new FanfareError('BAD_CURSOR', 'The cursor does not belong to this list');
  return {
    ...{ at: new Date(payload.readDoubleBE(0)), key },
    // Only says how much to read at once; a forged one costs no more than a deep page.
    depth: Math.min(payload.readUInt32BE(8), MAX_WINDOW),
  };
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
  const groups = await read.complete(await read.after(null, only.length));
  const found = new Map(
    (await shown(session, read, groups, {}, channels)).map((one) => [one.group.key, one]),
  );
  return keys.map((key) => found.get(key) ?? null);
}

/** The members who did it: distinct, newest first. */
export function actorsOf({ group }: Notification): string[] {
  return [...new Set(group.events.flatMap(({ actorId }) => actorId ?? []))];
}

/** Number of events, exact to 100. */
export function countEvents({ group: { events } }: Notification): UnreadCount {
  return { count: Math.min(events.length, MAX_COUNTED), isExact: events.length <= MAX_COUNTED };
}

/** Number of distinct actors of the events that were read; not exact if there are more events. */
export function countNewestActors(notification: Notification): UnreadCount {
  const { isExact } = countEvents(notification);
  return { count: Math.min(actorsOf(notification).length, MAX_COUNTED), isExact };
}

/** Upper bound on events that are read to count their actors. */
const MOST_COUNTED_EVENTS = 10_000;

/** Number of distinct actors, exact to 100. A command only if one of them did it several times, among very many events. */
export async function countActors(
  core: Core,
  session: ReaderSession,
  notification: Notification,
): Promise<UnreadCount> {
  const { kind, actionId } = notification.group;
  const known = countNewestActors(notification);
  const interaction = INTERACTION_KINDS.find((one) => one === kind);
  if (known.isExact || actorsOf(notification).length > MAX_COUNTED) return known;
  if (interaction === undefined || actionId === null) return known;
  const profile = await session.profile();
  const found = await notificationsOf(core).interactionsOf(
    notification.userId,
    { actionId, kind: interaction },
    {
      without: keptAway(profile),
      since: new Date(clock.time() - NOTIFICATION_WINDOW_MS),
      limit: MOST_COUNTED_EVENTS,
    },
  );
  const actors = new Set(found.map(({ actorId }) => actorId)).size;
  const isExact = found.length < MOST_COUNTED_EVENTS && actors <= MAX_COUNTED;
  return { count: Math.min(actors, MAX_COUNTED), isExact };
}
