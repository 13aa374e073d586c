import type { Action, ActionId } from '../../domain/action.ts';
import { NO_BLOCKS } from '../../domain/block.ts';
import type { FeedEntry, ItemMark } from '../../domain/newsfeed-item.ts';
import {
  type Follow,
  isAffectedByBlocks,
  moderates,
  type Identity,
  type ReaderProfile,
} from '../../domain/viewer.ts';
import { clock } from '../../lib/clock.ts';
import { noting } from '../../lib/noting.ts';
import type { Reading } from '../../lib/reading.ts';
import type { DirectoryAsOf } from '../../storage/stamps/directory-stamps.ts';
import type { FeedReads } from '../feed-reader.ts';
import type { FeedAhead } from '../read-ahead.ts';
import type { FeedQuery, FoundBeside, KnownReader, OpenedFeed } from '../feed-store.ts';
import { FOLLOW } from '../loads/own-follows.ts';
import { beginReading } from '../session/begin-reading.ts';
import type { Load } from '../session/load.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import type { Confirmed } from '../../storage/confirmed.ts';
import { type KeptPage, type Needed, NOTHING_NEEDED } from '../store/known-answers.ts';
import type { Count } from '../../core/shapes.ts';
import { ReadsBeside } from './beside.ts';
import { ITEM_MARK } from './hydration.ts';

/** Filters that take more characters are read each time: nothing made of them is kept. */
const LONGEST = 500;

const SETTINGS = ['dormantAfterMs', 'ranking', 'weights'] as const;

declare const RECORDED: unique symbol;
/** The core as the stages of a list have it: what they take of it is noted. */
export type RecordedCore = FeedReads & { readonly [RECORDED]: true };

/** A page that was begun before its reader was known. */
export interface Begun {
  readonly query: FeedQuery;
  readonly ahead: FeedAhead;
}

/** The answer to the first command of a read. */
export interface Answer {
  /** A digest, equal for equal answers; `null`: there is none. */
  readonly print: () => string | null;
  /** The time of the reader that it has. */
  readonly asOf: () => Date;
}

/**
 * One read of a list. Its first command is the answer that all else goes by, and whatever is read beyond that is noted. What was made
 * of the answer holds for equal answers if nothing was. The stages of a list have this `session` alone, so that none can forget to say
 * what it reads.
 */
export abstract class RecordedRead {
  /** Tells lists of all readers apart. */
  readonly list: string;
  readonly session: ReaderSession;
  protected readonly beside: ReadsBeside;
  #answer: Answer | null = null;
  /** Nothing was read beyond the answer. */
  #isEnough: boolean;
  /** The time of the profile that decided; `null`: nothing was decided by one. */
  #asOf: Date | null = null;
  /** From when on time changes what was decided. */
  #until = Infinity;

  /** @param list tells lists of one reader apart */
  constructor(session: ReaderSession, list: string) {
    const { identity } = session;
    // The roles of the token decide what a member is shown.
    this.list = JSON.stringify([identity.userId, moderates(identity), isAffectedByBlocks(identity), list]);
    this.#isEnough = list.length <= LONGEST;
    this.beside = new ReadsBeside(
      () => this.found(),
      () => this.reads(),
    );
    this.session = new RecordedSession(session, {
      beside: this.beside,
      reads: () => this.reads(),
      decidesBy: (profile) => this.#decidesBy(profile),
      decidesOf: (action) => this.#decidesOf(action),
    });
  }

  /** `null`: there is more than one. */
  protected abstract answer(): Promise<Answer | null>;

  /** The part of the answer that is beside a page; `null`: nothing. */
  protected found(): Promise<FoundBeside | null> {
    return NOTHING;
  }

  /** Equal for reads that decide the same; `null`: what it is may change although the answer does not. */
  get version(): string | null {
    return this.#until === Infinity ? this.#print : null;
  }

  /** Looks for what the process has made of this answer; `null`: nothing. */
  async known<T extends object>(known: Confirmed<T>, what: string): Promise<T | null> {
    this.#answer = await this.answer();
    const print = this.#answer?.print() ?? null;
    return print === null ? null : known.find(`${what} ${this.list}`, print);
  }

  /** Makes something of the answer, once if it depends on nothing else. */
  async made<T extends object>(known: Confirmed<T>, what: string, make: () => Promise<T>): Promise<T> {
    const before = await this.known(known, what);
    if (before !== null) return before;
    const made = await make();
    if (this.#print !== null) known.keep(`${what} ${this.list}`, this.#print, made, this.#until);
    return made;
  }

  get #print(): string | null {
    // A session that had read its reader before decides by that, which may be older than the answer.
    if (this.#answer === null || !this.#isEnough || this.#answer.asOf() !== this.#asOf) return null;
    return this.#answer.print();
  }

  /** More than the answer is read. */
  protected reads(): void {
    this.#isEnough = false;
  }

  #decidesBy({ asOf, blocks, mutes }: ReaderProfile): void {
    this.#asOf = asOf;
    // The answer has the revision of the blocks, but not while they are being changed.
    if (blocks !== NO_BLOCKS && blocks.rev === null) this.reads();
    // Also of one that has ended since the reader was looked up: it has decided.
    for (const { until } of mutes.list) this.holdsUntil(until?.getTime() ?? Infinity);
  }

  #decidesOf({ expiresAt }: Action): void {
    // An action that has expired stays so.
    if (expiresAt !== null && expiresAt.getTime() > clock.time()) this.holdsUntil(expiresAt.getTime());
  }

  /** From then on time changes what was decided. */
  protected holdsUntil(time: number): void {
    this.#until = Math.min(this.#until, time);
  }
}

const NOTHING: Promise<null> = Promise.resolve(null);

/** One read of a list of the feed. Its stages reach storage through `core` and `session` alone. */
export class ListRead extends RecordedRead {
  readonly core: RecordedCore;
  readonly #core: FeedReads;
  #opening: Promise<OpenedFeed | null> | null = null;
  #needed: Needed = NOTHING_NEEDED;

  constructor(core: FeedReads, session: ReaderSession, list: string) {
    super(session, list);
    this.#core = core;
    this.core = noting(core, () => this.reads(), SETTINGS) as RecordedCore;
  }

  protected override async answer(): Promise<Answer | null> {
    const opened = (await this.#opening) ?? null;
    return opened && { print: () => opened.print(), asOf: () => opened.read().reader.asOf };
  }

  protected override async found(): Promise<FoundBeside | null> {
    const opened = await this.#opening;
    return opened?.read().beside ?? null;
  }

  /**
   * Begins a page, requested while the reader is looked up, which saves a round trip. If the feed model reads both in one command, the
   * session uses the reader data from it. From the top, the first one is the answer.
   */
  begin(query: FeedQuery): Begun & { readonly reader: Promise<ReaderProfile> } {
    const { feedReader, feeds } = this.#core;
    const { userId } = this.session.identity;
    const beside = query.after === undefined ? this.#needed.beside : null;
    const ahead = feedReader.readAhead(userId, query, () => feeds.touch(userId, clock.now()), beside);
    this.#opens(query, ahead);
    const reader = this.#lookUp(ahead);
    // A caller that learns from the page that the read has failed does not ask for the reader: avoid an unhandled rejection.
    reader.catch(() => undefined);
    return { query, ahead, reader };
  }

  /** The same for entries that may be unread, without a reader. */
  beginUnread(limit: number): Begun {
    const { userId } = this.session.identity;
    const { query, ahead } = this.#core.feedReader.unreadAhead(userId, limit, this.#needed.beside);
    this.#opens({ limit }, ahead);
    return { query, ahead };
  }

  /** The entries of a page that was begun. */
  page(reader: ReaderProfile, { query, ahead }: Begun) {
    return this.#core.feedReader.page(reader, query, { ...ahead, readsOn: () => this.reads() });
  }

  /**
   * Prepares to read a page from the top, which then has what it took last time.
   * @param what tells pages of the list apart
   * @returns entries from the top that it took, if more than it has
   */
  expect(what: string): number {
    this.#needed = this.#core.neededReads.of(`${what} ${this.list}`);
    return this.#needed.entries;
  }

  /** @param entries from the top that the page took; 0: no more than it has */
  keepNeeded(what: string, entries: number): void {
    this.#core.neededReads.keep(`${what} ${this.list}`, { entries, beside: this.beside.needed });
  }

  /** The newest actions that the reader has marked as unread, or those of them before one. */
  newestUnread(before: ActionId | null, limit: number): Promise<readonly ActionId[]> {
    return this.beside.newestUnread(this.#core, this.session.identity.userId, before, limit);
  }

  /** The entries of these actions; actions that are not in the feed are left out. */
  find(reader: ReaderProfile, actionIds: readonly ActionId[]): Promise<readonly FeedEntry[]> {
    return this.#core.feedReader.find(reader, actionIds, this.beside.context);
  }

  get pages(): Confirmed<KeptPage> {
    return this.#core.knownPages;
  }

  get counts(): Confirmed<Count> {
    return this.#core.knownCounts;
  }

  async #lookUp({ known }: FeedAhead): Promise<ReaderProfile> {
    const reader = await known();
    if (reader !== null) this.session.know(reader);
    return beginReading(this.core, this.session);
  }

  #opens({ after }: FeedQuery, { opened }: FeedAhead): void {
    if (this.#opening !== null || after !== undefined) this.reads();
    else this.#opening = opened;
  }
}

/** Hears what a session is asked for. */
interface Notes {
  readonly beside: ReadsBeside;
  /** Something of storage. */
  readonly reads: () => void;
  readonly decidesBy: (profile: ReaderProfile) => void;
  /** An action at the revision that the answer has. */
  readonly decidesOf: (action: Action) => void;
}

/** Whether the first command may have it. */
function isBeside(what: Load<unknown>): boolean {
  return what === ITEM_MARK || what === FOLLOW;
}

class RecordedSession implements ReaderSession {
  readonly #session: ReaderSession;
  readonly #notes: Notes;
  #profile: Promise<ReaderProfile> | undefined;

  constructor(session: ReaderSession, notes: Notes) {
    this.#session = session;
    this.#notes = notes;
  }

  get identity(): Identity {
    return this.#session.identity;
  }

  get reading(): Reading {
    return this.#session.reading;
  }

  load<V>(what: Load<V>, id: string): Promise<V | null> {
    if (isBeside(what)) return this.loadMany(what, [id]).then(([found = null]) => found);
    this.#notes.reads();
    return this.#session.load(what, id);
  }

  loadMany<V>(what: Load<V>, ids: readonly string[]): Promise<(V | null)[]> {
    if (ids.length === 0) return Promise.resolve([]);
    if (isBeside(what)) return this.#beside(what, ids) as Promise<(V | null)[]>;
    this.#notes.reads();
    return this.#session.loadMany(what, ids);
  }

  async #beside(what: Load<unknown>, ids: readonly string[]): Promise<readonly (ItemMark | Follow | null)[]> {
    const { beside } = this.#notes;
    return what === ITEM_MARK
      ? beside.marks(ids, (some) => this.#session.loadMany(ITEM_MARK, some))
      : beside.follows(ids, (some) => this.#session.loadMany(FOLLOW, some));
  }

  async loadAt(id: ActionId, rev: number | undefined): Promise<Action | null> {
    const action = await this.#session.loadAt(id, rev);
    if (action === null || action.rev !== rev) this.#notes.reads();
    else this.#notes.decidesOf(action);
    return action;
  }

  cached(id: ActionId, rev: number): Action | null {
    const action = this.#session.cached(id, rev);
    if (action !== null) this.#notes.decidesOf(action);
    return action;
  }

  profile(): Promise<ReaderProfile> {
    return (this.#profile ??= this.#decidingProfile());
  }

  know(known: KnownReader): void {
    this.#session.know(known);
  }

  get directoryStamp(): number | null {
    return this.#session.directoryStamp;
  }

  directory(): Promise<DirectoryAsOf | null> {
    return this.#session.directory();
  }

  async #decidingProfile(): Promise<ReaderProfile> {
    const profile = await this.#session.profile();
    this.#notes.decidesBy(profile);
    if (!profile.hasEnds) return profile;
    return {
      ...profile,
      returned: () => {
        this.#notes.reads();
        return profile.returned();
      },
    };
  }
}
