import { hash } from 'node:crypto';
import type { Stretch } from '../../../src/storage/documents/keyset.ts';
import type { Action, ActionId } from '../../../src/domain/action.ts';
import {
  compareNotifications,
  isKeptAway,
  isReadThrough,
  isSeen,
  keptAway,
  NOTIFICATION_KINDS,
  NOTIFICATION_WINDOW_MS,
  notificationKey,
  parseNotificationKey,
  type NotificationEvent,
  type NotificationGroup,
  type NotificationKind,
  type NotificationPosition,
} from '../../../src/domain/notification.ts';
import { NO_MUTES } from '../../../src/domain/mute.ts';
import type { ReaderProfile } from '../../../src/domain/viewer.ts';
import type { Context } from '../../../src/feed/context.ts';
import { type Answer, RecordedRead } from '../../../src/feed/page/list-read.ts';
import { learnBlocks } from '../../../src/feed/loads/own-blocks.ts';
import { ACTION, seesFanOut } from '../../../src/feed/session/load.ts';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';
import { clock } from '../../../src/lib/clock.ts';
import type { UnreadCount } from '../../../src/core/shapes.ts';
import { keptOf, type Found, type FoundPage, type Reading } from './kept-lists.ts';
import { areEqual, buildersOf, groupOf, isPlain, isTo, keyOf, oldestOf, type Builder } from './groups.ts';
import {
  KINDS_IN,
  lateness,
  NOTHING_BESIDE,
  notificationsOf,
  SOURCES,
  type Only,
  type ReadBeside,
  type Source,
  type SourceQuery,
  type SourceRow,
  type SourcesRead,
} from './store/notifications.ts';
import { isPairKind, MOST_EVENTS, type PairRow, type PairToRead } from './store/pairs.ts';
import type { NotificationState } from './store/states.ts';

/** The wanted part of a list. Nothing else is read, beyond the first read of every list. */
export interface Wanted {
  readonly wants: (state: NotificationState, kind: NotificationKind) => boolean;
  /** Whether no group is wanted that stands there or below. */
  readonly isOver: (state: NotificationState, bound: Date) => boolean;
}

/** Comments to a member and followers that are read at first: each group may have many. */
const USUAL_EVENTS = 2 * MOST_EVENTS;
/** Documents of a source that are read at once. */
export const MAX_WINDOW = 2_000;
/** Actions that are read beside them at once. */
const MAX_ACTIONS = 500;
/** How often events of one action are read again without those of members who turn out to be kept away. */
const MOST_READS = 5;
const DAY_MS = 86_400_000;

/**
 * One read of what concerns a reader, in the order of the list. Reads its sources in windows, each in its own order of time,
 * and merges them by group. The place of a group is final once no source can still have a newer event.
 */
export class NotificationRead extends RecordedRead {
  readonly #core: Context;
  readonly #since: Date;
  readonly #only: Only;
  /** It has all that concerns the reader. */
  readonly #isWhole: boolean;
  readonly #withMuted: boolean;
  readonly #wants: Wanted['wants'];
  readonly #isOver: Wanted['isOver'];
  /** The wanted kinds. */
  #kinds: ReadonlySet<NotificationKind> = new Set();
  readonly #size: Readonly<Record<'groups' | 'shown', number>>;
  /** `null`: a list that is kept, which is not to be changed. */
  #groups: Map<string, Builder> | null = new Map();
  /** Revisions of actions that were read with it. */
  #revisions = new Map<ActionId, number>();
  /** Versions of actions of the reader. */
  #versions = new Map<ActionId, number>();
  /** There is more of what others did with actions of the reader than was read at once. */
  #isOwnedFull = false;
  /** There are more comments to the reader than were read at once. */
  #isToFull = false;
  /** Keys of the notifications whose events were read one by one. */
  #pairs = new Set<string>();
  /** All that there may be of the actions that were read. */
  #waiting = new Map<string, PairToRead>();
  /** Keys of those among them whose place in the list was read. */
  #placed = new Set<string>();
  #sources: Map<Source, Reading>;
  #opened: { readonly profile: ReaderProfile; readonly state: NotificationState } | null = null;
  #sorted: readonly NotificationGroup[] = [];
  #version: string | null = null;
  #madeOf: ReadonlyMap<string, string> = new Map();
  /** The list that is kept, by which it is found. */
  #list = '';
  /** Revisions that the first answer has. */
  #answered: ReadonlyMap<ActionId, number> = new Map();
  #answer: Answer | null = null;

  /** @param options.groups number of groups that are needed at least. `shown`: those of them that are needed with all events. */
  constructor(
    core: Context,
    session: ReaderSession,
    options: {
      readonly groups: number;
      readonly shown?: number;
      /** Tells lists of the reader apart by what else decides them. */
      readonly list?: string;
      readonly only?: Only;
      readonly since?: Date;
      /** Also what members did whom the reader mutes. */
      readonly withMuted?: boolean;
    } & Partial<Wanted>,
  ) {
    super(session, options.list ?? '');
    this.#core = core;
    this.#since = options.since ?? new Date(clock.time() - NOTIFICATION_WINDOW_MS);
    this.#only = options.only ?? null;
    this.#isWhole = options.since === undefined && this.#only === null;
    this.#withMuted = options.withMuted ?? false;
    this.#wants = options.wants ?? (() => true);
    this.#isOver = options.isOver ?? (() => false);
    const groups = Math.min(MAX_WINDOW, options.groups);
    this.#size = { groups, shown: options.shown ?? groups };
    const limitOf = (source: Source): number => {
      if (source === 'owned') return Math.max(MOST_EVENTS, groups);
      return source === 'to' || source === 'followers' ? Math.max(USUAL_EVENTS, groups) : groups;
    };
    this.#sources = new Map(
      SOURCES.map((source) => [source, { limit: limitOf(source), place: null, bound: Infinity }]),
    );
  }

  /** The reader, and how far they have seen and read. */
  async opened(): Promise<{ readonly profile: ReaderProfile; readonly state: NotificationState }> {
    if (this.#opened === null) await this.#readOn();
    if (this.#opened === null) throw new Error('The list has not been read');
    return this.#opened;
  }

  /** Equal for groups that are equal, of lists that are kept; `null`: it is not kept. */
  versionOf({ key }: NotificationGroup): string | null {
    return this.#version === null ? null : (this.#madeOf.get(key) ?? null);
  }

  /** A page of a list that is kept is made once if nothing else decides it. @param what tells pages of the list apart */
  async page(what: string, make: () => Promise<FoundPage>): Promise<FoundPage> {
    await this.opened();
    return this.made(keptOf(this.#core).pages, `${what} ${this.#list}`, make);
  }

  /** The same for a count of it. */
  async count(what: string, make: () => Promise<UnreadCount>): Promise<UnreadCount> {
    await this.opened();
    return this.made(this.#core.knownCounts, `${what} ${this.#list}`, make);
  }

  protected override async answer(): Promise<Answer | null> {
    await this.opened();
    return this.#answer;
  }

  /** The next groups from a position on. Sources are read from the top, also for what is above a position. */
  async next({ from, isUp, limit }: Stretch<NotificationPosition>): Promise<NotificationGroup[]> {
    for (;;) {
      const bound = this.#bound();
      const isNext = (group: NotificationGroup): boolean =>
        from === null || compareNotifications(from, group) * (isUp ? -1 : 1) < 0;
      const known = this.#inPlace().filter((group) => !this.#isOverAt(group.at) && isNext(group));
      const isEnough = isUp ? from !== null && from.at.getTime() > bound : known.length >= limit;
      if (isEnough || bound === -Infinity || this.#isOverAt(new Date(bound)))
        return (isUp ? known.reverse() : known).slice(0, limit);
      await this.#readOn();
    }
  }

  #isOverAt(at: Date): boolean {
    return this.#opened !== null && this.#isOver(this.#opened.state, at);
  }

  /** How many groups were read whose place is final, and no other is later than this; `null`: there are no others. */
  async reach(): Promise<{ readonly groups: number; readonly bound: Date | null }> {
    await this.opened();
    const bound = this.#bound();
    return { groups: this.#inPlace().length, bound: bound === -Infinity ? null : new Date(bound) };
  }

  #inPlace(): NotificationGroup[] {
    const bound = this.#bound();
    return this.#sorted.filter(({ at }) => at.getTime() > bound);
  }

  /** The groups with all of their events that are counted. No command unless a reader has very many. */
  async complete(groups: readonly NotificationGroup[]): Promise<NotificationGroup[]> {
    const open = groups.filter((group) => this.#isOpen(group));
    if (open.length === 0) return [...groups];
    const place = this.#sources.get('followers')?.place ?? null;
    const from = [['followers', { limit: MOST_EVENTS * open.length, place }]] as const;
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
    return Promise.all(
      ids.map((id) => {
        const cached = this.#cached(id);
        if (cached === null) return this.session.load(ACTION, id);
        if (this.#answered.get(id) !== cached.rev) this.reads();
        return Promise.resolve(cached);
      }),
    );
  }

  #cached(id: ActionId): Action | null {
    const rev = this.#revisions.get(id);
    return rev === undefined ? null : this.session.cached(id, rev);
  }

  /** Whether it may have more events than were read, and than are counted. */
  #isOpen({ kind, key, events }: NotificationGroup): boolean {
    if (events.length >= MOST_EVENTS) return false;
    if (kind === 'FOLLOW')
      return this.#boundOf('followers') >= Date.parse(parseNotificationKey(key)?.of ?? '');
    const isFull = isTo(kind) ? this.#isToFull : this.#isOwnedFull;
    return isFull && isPairKind(kind) && !this.#pairs.has(key);
  }

  /** No document of the source that was not read yet has a later time. */
  #boundOf(source: Source): number {
    // Until it is read what others did with them, one by one, that is known as far as it was read at once.
    if (source === 'own' && this.#sources.get('owned')?.bound !== -Infinity) return -Infinity;
    if (source === 'threads' && this.#sources.get('to')?.bound !== -Infinity) return -Infinity;
    return this.#sources.get(source)?.bound ?? -Infinity;
  }

  #bound(): number {
    return Math.max(...SOURCES.map((source) => this.#boundOf(source)));
  }

  #query(from: SourceQuery['from']): SourceQuery {
    return { userId: this.session.identity.userId, since: this.#since, from, only: this.#only };
  }

  async #readOn(): Promise<void> {
    if (this.#opened === null) {
      await this.#open();
      return;
    }
    this.#copied();
    const notifications = notificationsOf(this.#core);
    // Entries below the others are not needed before the others have been read to there.
    const highest = this.#bound();
    const next = new Map([...this.#sources].filter(([source]) => this.#boundOf(source) === highest));
    const [isOwned, isToThem] = [next.delete('owned'), next.delete('to')];
    // Instead of what lies below in time, of which one thread may have all: where the threads stand.
    const threads = this.#sources.get('threads');
    if (isToThem && threads !== undefined) next.set('threads', threads);
    const beside = this.#beside(isOwned ? this.#unread() : []);
    await this.#take(next, await notifications.readOn(this.#query(next), beside));
    const unread = [
      ...(next.has('own') ? this.#unread() : []),
      ...(next.has('threads') ? this.#unread(true) : []),
    ];
    if (next.has('own') || next.has('threads'))
      await this.#add(await notifications.readOn(this.#query(new Map()), this.#beside(unread)));
    if (isOwned) this.#close('owned', 'own');
    if (isToThem) this.#close('to', 'threads');
  }

  async #open(): Promise<void> {
    const { pulledRefs } = this.#core;
    const notifications = notificationsOf(this.#core);
    const pulled = await pulledRefs.known();
    const opened = await notifications.open(
      this.#query(this.#first()),
      pulled.size > MAX_WINDOW ? [] : [...pulled],
    );
    const { pulledFollows, ...reader } = opened.reader;
    const stamp = reader.directoryStamp;
    this.#answer = { print: () => opened.print, asOf: () => reader.asOf };
    this.session.know(pulled.size > MAX_WINDOW ? reader : { ...reader, pulledFollows });
    const profile = await this.session.profile();
    const reading = this.#withMuted ? { ...profile, mutes: NO_MUTES } : profile;
    this.#opened = { profile: reading, state: opened.state };
    this.#kinds = new Set(NOTIFICATION_KINDS.filter((kind) => this.#wants(opened.state, kind)));
    const { lists } = keptOf(this.#core);
    const list = this.#isWhole && reading.blocks.isWhole ? this.#listOf(reading) : null;
    this.#list = list ?? '';
    if (list !== null && this.#restore(lists.find(list, opened.print))) {
      this.#version = opened.print + list;
      return;
    }
    await this.#take(this.#first(), opened.sources());
    for (const [source, reading] of this.#sources)
      if (!KINDS_IN[source].some((kind) => this.#kinds.has(kind)))
        this.#sources.set(source, { ...reading, bound: -Infinity });
    const revisions = (this.#answered = new Map(this.#revisions));
    this.#isOwnedFull = this.#boundOf('owned') !== -Infinity;
    this.#isToFull = this.#boundOf('to') !== -Infinity;
    if (!this.#isToFull) this.#close('to', 'threads');
    const found = list === null ? null : lists.find(list, null);
    const last = found?.stamp === stamp ? found : null;
    const isCut = this.#isOwnedFull && this.#isOverAt(new Date(this.#bound()));
    if (this.#isOwnedFull) await this.#readPairs(last);
    else this.#close('owned', 'own');
    // One that is cut has less than a list of all. Of actions that the answer does not have it does not say that nothing has changed.
    if (list === null || isCut || ![...this.#pairs].every((key) => this.#waiting.has(key))) {
      this.reads();
      return;
    }
    this.#version = opened.print + list;
    this.#madeOf = this.#groupsSince(last, this.#version);
    const made = this.#found(stamp, revisions);
    lists.keep(list, opened.print, made, made.until);
    this.holdsUntil(made.until);
  }

  /** Nothing else of the reader decides what the list has. */
  #listOf(reader: ReaderProfile): string {
    const away = keptAway(reader).sort();
    const kinds = this.#kinds.size === NOTIFICATION_KINDS.length ? [] : [[...this.#kinds]];
    const text = JSON.stringify([reader.userId, ...Object.values(this.#size), ...kinds, ...away]);
    return away.length === 0 ? text : hash('sha1', text, 'base64');
  }

  #found(stamp: number, revisions: Map<ActionId, number>): Found {
    return {
      ...{
        stamp,
        revisions,
        versions: new Map(this.#versions),
        groups: this.#sorted,
        madeOf: this.#madeOf,
        until: oldestOf(this.#sorted) + NOTIFICATION_WINDOW_MS,
        isOwnedFull: this.#isOwnedFull,
        isToFull: this.#isToFull,
      },
      ...{ waiting: new Map(this.#waiting), pairs: new Set(this.#pairs), placed: new Set(this.#placed) },
      sources: new Map(this.#sources),
    };
  }

  /** Groups of the last list that are the same keep their content. */
  #groupsSince(last: Found | null, version: string): Map<string, string> {
    const before = new Map(last?.groups.map((group) => [group.key, group.events]));
    return new Map(
      this.#sorted.map(({ key, actionId, events }) => {
        // More than the events are counted of an action that has more.
        const isAll = events.length < MOST_EVENTS || this.#hasNothingNew(last, actionId);
        const isSame = isAll && areEqual(before.get(key) ?? [], events);
        return [key, (isSame ? last?.madeOf.get(key) : null) ?? version];
      }),
    );
  }

  /** Whether it could be used. */
  #restore(found: Found | null): boolean {
    if (found === null) return false;
    this.holdsUntil(found.until);
    this.#groups = null;
    this.#sorted = found.groups;
    this.#madeOf = found.madeOf;
    this.#answered = this.#revisions = found.revisions;
    this.#versions = found.versions;
    this.#waiting = found.waiting;
    this.#pairs = found.pairs;
    this.#placed = found.placed;
    this.#sources = found.sources;
    this.#isOwnedFull = found.isOwnedFull;
    this.#isToFull = found.isToFull;
    return true;
  }

  /** From a list that is kept nothing is changed but copies. */
  #copied(): Map<string, Builder> {
    if (this.#groups !== null) return this.#groups;
    this.#revisions = new Map(this.#revisions);
    this.#versions = new Map(this.#versions);
    this.#waiting = new Map(this.#waiting);
    this.#pairs = new Set(this.#pairs);
    this.#placed = new Set(this.#placed);
    this.#sources = new Map(this.#sources);
    return (this.#groups = buildersOf(this.#sorted));
  }

  /**
   * Interactions of others with actions of the reader, as far as they were not read at once, together with the actions that are needed.
   * Of what is not shown only where it stands, and nothing where nobody counts any more.
   * @param last the list as it was kept: what it has of actions that have not changed is not read again.
   */
  async #readPairs(last: Found | null): Promise<void> {
    const { profile, state } = await this.opened();
    const { groups, shown } = this.#size;
    const known = this.#inPlace().filter(({ at }) => !this.#isOverAt(at));
    const isShown = known.length >= shown;
    const highest = { at: new Date(this.#bound()), key: '' };
    const isCounted = isSeen(state, highest) && isReadThrough(state, highest);
    const isEnough = known.length >= groups || (isShown && isCounted) || this.#isOverAt(highest.at);
    if (isEnough && known.length === 0) return;
    const open = this.#pairsOf(
      known.slice(0, shown).filter((group) => !isTo(group.kind) && this.#isOpen(group)),
    );
    const more = isEnough ? [] : this.#unread();
    const stands = new Set(known.map(({ key }) => key));
    const rest = more.filter((pair) => !stands.has(keyOf(pair)));
    const pairs = isEnough
      ? open
      : isShown && isPlain(profile)
        ? [...open, ...rest.map((pair) => ({ ...pair, isNewestOnly: true }))]
        : more;
    const same = pairs.filter((pair) => this.#isUnchanged(last, pair));
    const events = new Map(last?.groups.map((group) => [group.key, group.events]));
    const rows = same.map((pair) => ({ ...pair, events: events.get(keyOf(pair)) ?? [] }));
    await this.#add({ rows: [], pairs: rows });
    const beside = this.#beside(pairs.filter((pair) => !same.includes(pair)));
    await this.#add(await notificationsOf(this.#core).readOn(this.#query(new Map()), beside));
    for (const pair of pairs)
      if (pair.isNewestOnly === true) this.#pairs.delete(keyOf(pair));
      else this.#pairs.add(keyOf(pair));
    if (!isEnough) this.#close('owned', 'own');
  }

  /** Whether the list had as much of it, and nothing has happened with the action since. */
  #isUnchanged(last: Found | null, { isNewestOnly, ...pair }: PairToRead): boolean {
    if (last === null || !this.#hasNothingNew(last, pair.actionId)) return false;
    return last.pairs.has(keyOf(pair)) || (isNewestOnly === true && last.placed.has(keyOf(pair)));
  }

  /** Whether it is known that nothing has happened with the action since. */
  #hasNothingNew(last: Found | null, actionId: ActionId | null): boolean {
    const version = actionId === null ? undefined : this.#versions.get(actionId);
    return version !== undefined && actionId !== null && last?.versions.get(actionId) === version;
  }

  /** Everything is known of the actions that were read, and what is later than the last event that was read at once. */
  #close(events: 'owned' | 'to', actions: 'own' | 'threads'): void {
    const [one, other] = [this.#sources.get(events), this.#sources.get(actions)];
    if (one === undefined || other === undefined) return;
    this.#sources.set(actions, { ...other, bound: Math.min(other.bound, one.bound) });
    this.#sources.set(events, { ...one, bound: -Infinity });
  }

  /** The actions with comments to the reader are read when the latest of these do not reach far enough. */
  #first(): Map<Source, Reading> {
    const first = new Map(this.#sources);
    first.delete('threads');
    return first;
  }

  /** Waiting notifications whose place in the list was not read. The caller reads it. @param to also of comments to the reader */
  #unread(to = false): PairToRead[] {
    const unread = [...this.#waiting].filter(
      ([key, { kind }]) => isTo(kind) === to && !this.#placed.has(key),
    );
    for (const [key] of unread) this.#placed.add(key);
    return unread.map(([, pair]) => pair);
  }

  /** Interactions of others with actions of the reader, one by one. */
  #pairsOf(groups: readonly NotificationGroup[]): PairToRead[] {
    return groups.flatMap(({ key, kind, actionId }) =>
      actionId === null || !isPairKind(kind)
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
    const actionIds = seesFanOut(this.session.identity)
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
        bound: before.getTime() + lateness(source),
      });
    }
  }

  /** Where followers go on if there are enough of this day. */
  #dayBefore(row: SourceRow): Date | null {
    if (row.source !== 'followers') return null;
    const ofDay = this.#groups?.get(notificationKey('FOLLOW', row.time));
    if (ofDay === undefined || ofDay.events.size < MOST_EVENTS) return null;
    return new Date(Math.floor(row.time.getTime() / DAY_MS) * DAY_MS - 1);
  }

  async #add({ rows, pairs, actions = [] }: SourcesRead): Promise<void> {
    if (this.#version !== null) this.reads();
    this.#version = null;
    const groups = this.#copied();
    await this.#learnBlocks([
      ...pairs.flatMap(({ events }) => events),
      ...rows.flatMap(({ event }) => event ?? []),
    ]);
    for (const pair of pairs) {
      this.#pairs.add(keyOf(pair));
      for (const event of await this.#newest(pair)) this.#put(pair.kind, pair.actionId, event);
    }
    this.#core.actionCache.keep(actions);
    for (const { id, rev } of actions) this.#revisions.set(id, rev);
    for (const { id, rev, version, pairs: ofAction, event } of rows) {
      if (rev !== null) this.#revisions.set(id, rev);
      if (version !== null) this.#versions.set(id, version);
      for (const pair of ofAction) if (this.#kinds.has(pair.kind)) this.#waiting.set(keyOf(pair), pair);
      if (event !== null) this.#put(event.kind, event.of, event, event.refId);
    }
    this.#sorted = Array.from(groups, ([key, group]) => groupOf(key, group)).sort(compareNotifications);
  }

  /** Interactions of others with an action of the reader, or comments to them. Older ones replace those of members kept away. */
  async #newest({ actionId, kind, events }: PairRow): Promise<readonly NotificationEvent[]> {
    const { profile } = await this.opened();
    let found = events;
    for (let reads = 0; reads < MOST_READS; reads += 1) {
      if (found.length < MOST_EVENTS || !found.some(({ actorId }) => isKeptAway(profile, actorId))) break;
      const others = await notificationsOf(this.#core).interactionsOf(
        profile.userId,
        { actionId, kind },
        { without: keptAway(profile), since: this.#since, limit: MOST_EVENTS },
      );
      found = others.map((event) => ({ ...event, interactionId: event.id }));
      await this.#learnBlocks(found);
    }
    return found;
  }

  async #learnBlocks(events: readonly Pick<NotificationEvent, 'actorId'>[]): Promise<void> {
    const { profile } = await this.opened();
    const actorIds = events.flatMap(({ actorId }) => actorId ?? []);
    await learnBlocks(this.session, profile, actorIds);
  }

  #put(
    kind: NotificationKind,
    of: string | Date,
    { id, actorId, at, interactionId }: NotificationEvent,
    refId: string | null = null,
  ): void {
    if (this.#opened === null || isKeptAway(this.#opened.profile, actorId)) return;
    if (at.getTime() < this.#since.getTime() || !this.#kinds.has(kind)) return;
    const key = notificationKey(kind, of);
    if (this.#only?.every((one) => `${one.kind}:${one.of}` !== key) === true) return;
    const actionId = typeof of === 'string' && kind !== 'ASSIGNED' ? of : null;
    const groups = this.#copied();
    const group = groups.get(key) ?? {
      kind,
      actionId,
      refId,
      events: new Map<string, NotificationEvent>(),
    };
    group.events.set(id, { id, actorId, at, interactionId });
    groups.set(key, group);
  }
}
