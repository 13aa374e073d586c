import type { Action, ActionId } from '../../domain/action.ts';
import { NO_BLOCKS } from '../../domain/block.ts';
import { isAffectedByBlocks, moderates, type Identity, type ReaderProfile } from '../../domain/viewer.ts';
import { clock } from '../../lib/clock.ts';
import { noting } from '../../lib/noting.ts';
import type { Reading } from '../../lib/reading.ts';
import type { DirectoryAsOf } from '../../storage/stamps/directory-stamps.ts';
import type { FeedAhead, FeedReads } from '../feed-reader.ts';
import type { FeedQuery, KnownReader, OpenedFeed } from '../feed-store.ts';
import { beginReading } from '../session/begin-reading.ts';
import type { Load } from '../session/load.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import type { KeptPage, Known } from '../store/known-answers.ts';
import type { Count } from '../../core/shapes.ts';

/** What is made of filters that take more characters is not kept. */
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

/** What the first command of a read has found. */
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
    // What a member is shown depends on the roles of the token.
    this.list = JSON.stringify([identity.userId, moderates(identity), isAffectedByBlocks(identity), list]);
    this.#isEnough = list.length <= LONGEST;
    this.session = new RecordedSession(session, {
      reads: () => this.reads(),
      decidesBy: (profile) => this.#decidesBy(profile),
      decidesOf: (action) => this.#decidesOf(action),
    });
  }

  /** `null`: there is more than one. */
  protected abstract answer(): Promise<Answer | null>;

  /** Equal for reads that decide the same; `null`: what it is may change although the answer does not. */
  get version(): string | null {
    return this.#until === Infinity ? this.#print : null;
  }

  /** What the process has made of this answer; `null`: nothing. */
  async known<T extends object>(known: Known<T>, what: string): Promise<T | null> {
    this.#answer = await this.answer();
    const print = this.#answer?.print() ?? null;
    return print === null ? null : known.find(`${what} ${this.list}`, print);
  }

  /** What is made of the answer, once if it depends on nothing else. */
  async made<T extends object>(known: Known<T>, what: string, make: () => Promise<T>): Promise<T> {
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
    // What has expired already stays so.
    if (expiresAt !== null && expiresAt.getTime() > clock.time()) this.holdsUntil(expiresAt.getTime());
  }

  /** From then on time changes what was decided. */
  protected holdsUntil(time: number): void {
    this.#until = Math.min(this.#until, time);
  }
}

/** One read of a list of the feed. Its stages reach storage through `core` and `session` alone. */
export class ListRead extends RecordedRead {
  readonly core: RecordedCore;
  readonly #core: FeedReads;
  #opening: Promise<OpenedFeed | null> | null = null;

  constructor(core: FeedReads, session: ReaderSession, list: string) {
    super(session, list);
    this.#core = core;
    this.core = noting(core, () => this.reads(), SETTINGS) as RecordedCore;
  }

  protected override async answer(): Promise<Answer | null> {
    const opened = (await this.#opening) ?? null;
    return opened && { print: () => opened.print(), asOf: () => opened.read().reader.asOf };
  }

  /**
   * Begins a page, requested while the reader is looked up, which saves a round trip. If the feed model reads both in one command, the
   * session uses the reader data from it. From the top, the first one is the answer.
   */
  begin(query: FeedQuery): Begun & { readonly reader: Promise<ReaderProfile> } {
    const { feedReader, feeds } = this.#core;
    const { userId } = this.session.identity;
    const ahead = feedReader.readAhead(userId, query, () => feeds.touch(userId, clock.now()));
    this.#opens(query, ahead);
    const reader = this.#lookUp(ahead);
    // Who learns from the page that the read has failed does not ask for the reader: avoid an unhandled rejection.
    reader.catch(() => undefined);
    return { query, ahead, reader };
  }

  /** The same for entries that may be unread, without a reader. */
  beginUnread(limit: number): Begun {
    const { query, ahead } = this.#core.feedReader.unreadAhead(this.session.identity.userId, limit);
    this.#opens({ limit }, ahead);
    return { query, ahead };
  }

  /** The entries of a page that was begun. */
  page(reader: ReaderProfile, { query, ahead }: Begun) {
    return this.#core.feedReader.page(reader, query, { ...ahead, readsOn: () => this.reads() });
  }

  /** Entries from the top that a page of the list took last time, if more than it has. @param what tells pages of the list apart */
  needed(what: string): number {
    return this.#core.neededEntries.of(`${what} ${this.list}`);
  }

  keepNeeded(what: string, count: number): void {
    this.#core.neededEntries.keep(`${what} ${this.list}`, count);
  }

  get pages(): Known<KeptPage> {
    return this.#core.knownPages;
  }

  get counts(): Known<Count> {
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

/** What a session is asked for. */
interface Notes {
  /** Something of storage. */
  readonly reads: () => void;
  readonly decidesBy: (profile: ReaderProfile) => void;
  /** An action at the revision that the answer has. */
  readonly decidesOf: (action: Action) => void;
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
    this.#notes.reads();
    return this.#session.load(what, id);
  }

  loadMany<V>(what: Load<V>, ids: readonly string[]): Promise<(V | null)[]> {
    if (ids.length > 0) this.#notes.reads();
    return this.#session.loadMany(what, ids);
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
