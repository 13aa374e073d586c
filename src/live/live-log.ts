import type { EndSignal } from '../lib/closer.ts';
import type { ActionId, RefId, UserId } from '../domain/action.ts';
import { FanfareError } from '../domain/errors.ts';
import type { InteractionId } from '../domain/interaction.ts';
import type { DeliveryReason } from '../domain/newsfeed-item.ts';
import type { NotificationKind } from '../domain/notification.ts';
import { createHash } from 'node:crypto';

/** Hex digits of an epoch, and of a generation, which starts with its epoch. */
const EPOCH_LENGTH = 16;

/** No id of a reader contains it behind one of these words, so no name of a log is also a reader's id. */
const BEHIND_WORD = '\u001f';
const SLICE = `ref:${BEHIND_WORD}`;
const THREAD = `action:${BEHIND_WORD}`;

/** The log of a ref's slice: takes the place of a reader's id wherever logs are named. */
export const sliceLog = (refId: RefId): string => SLICE + refId;

/** The log of an action's thread. */
export const threadLog = (actionId: ActionId): string => THREAD + actionId;

/** Whether a log is that of a reader, and not of what anybody may watch. */
export const isOfReader = (name: string): boolean => !name.startsWith(SLICE) && !name.startsWith(THREAD);

/** A position in one reader's log: after the event with this number. */
export interface LogPosition {
  readonly generation: string;
  /** The log's own time of that event in ms; 0 before the first. */
  readonly at: number;
  /** Incremented by each event of a generation; 0 before the first. */
  readonly sequence: number;
  /** How many of the messages that the next event makes are known as well. Default: none. */
  readonly parts?: number;
}

/** A position in no log: a watcher that resumes from it gets a resync. */
export const NOWHERE: LogPosition = { generation: 'f'.repeat(24), at: 0, sequence: 0 };

const FORMAT = /^1:[\w-]{8}:([0-9a-f]{24}):(\d{1,15})-(\d{1,15})(?:\+(\d{1,2}))?$/;
const MAX_LENGTH = 128;

export function epochOf(generation: string): string {
  return generation.slice(0, EPOCH_LENGTH);
}

/** Short and one-way: distinguishes readers without revealing their ids. */
export function readerTag(userId: UserId): string {
  return createHash('sha256').update(userId).digest('base64url').slice(0, 8);
}

export function encodeLiveCursor(tag: string, { generation, at, sequence, parts = 0 }: LogPosition): string {
  return toBase64Url(`${headOf(tag, generation)}${String(at)}-${String(sequence)}${partsText(parts)}`);
}

const partsText = (parts: number): string => (parts === 0 ? '' : `+${String(parts)}`);

/** The cursor after so many of the messages that one event makes. @param before cursor of the event before it */
export function cursorWithin(before: string, parts: number): string {
  return toBase64Url(`${Buffer.from(before, 'base64url').toString()}${partsText(parts)}`);
}

/** Takes a cursor of `ready` apart: that of the last event, and how many messages of the next one are known. */
export function splitCursor(cursor: string): { readonly before: string; readonly parts: number } {
  const [before = '', parts = '0'] = Buffer.from(cursor, 'base64url').toString().split('+');
  return { before: toBase64Url(before), parts: Number(parts) };
}

/** Encodes cursors of one reader; the common part is encoded once. */
export class CursorEncoder {
  readonly #tag: string;
  #generation = '';
  #head: string | null = null;

  constructor(tag: string) {
    this.#tag = tag;
  }

  encode(position: LogPosition): string {
    const { generation, at, sequence, parts = 0 } = position;
    if (generation !== this.#generation) {
      const head = headOf(this.#tag, generation);
      this.#generation = generation;
      // Base64 encodes three bytes at a time: only then can the parts be encoded separately.
      this.#head = head.length % 3 === 0 ? toBase64Url(head) : null;
    }
    return this.#head === null || parts > 0
      ? encodeLiveCursor(this.#tag, position)
      : this.#head + placeText(at, sequence);
  }
}

const latest = { at: NaN, sequence: NaN, text: '' };

/** One message often has the same position for many readers. */
function placeText(at: number, sequence: number): string {
  if (at !== latest.at || sequence !== latest.sequence)
    Object.assign(latest, { at, sequence, text: toBase64Url(`${String(at)}-${String(sequence)}`) });
  return latest.text;
}

function headOf(tag: string, generation: string): string {
  return `1:${tag}:${generation}:`;
}

function toBase64Url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/** The position in a cursor of this reader; `null` for anything else. */
export function decodeLiveCursor(tag: string, cursor: string): LogPosition | null {
  if (cursor.length > MAX_LENGTH) return null;
  const match = FORMAT.exec(Buffer.from(cursor, 'base64url').toString());
  if (match === null) return null;
  const [, generation = '', at, sequence, parts] = match;
  const place = { generation, at: Number(at), sequence: Number(sequence) };
  const position = parts === undefined ? place : { ...place, parts: Number(parts) };
  // Accept only the canonical spelling with this reader's tag: the decoder would skip unknown characters.
  return encodeLiveCursor(tag, position) === cursor ? position : null;
}

/** Changes of a reader's list that cannot be reported item by item: the feed must be queried again. */
export const LIST_CHANGES = ['mutes', 'marks', 'membership', 'list'] as const;
export type ListChange = (typeof LIST_CHANGES)[number];

/** Why a watcher must query the feed again; README.md says when each is sent. */
export const RESYNC_REASONS = [
  'invalid-cursor',
  'log-lost',
  'log-interrupted',
  'window-passed',
  'buffer-overflow',
  ...LIST_CHANGES,
] as const;
export type ResyncReason = (typeof RESYNC_REASONS)[number];

export interface EntryEvent {
  readonly kind: 'added' | 'updated' | 'removed';
  readonly actionId: ActionId;
  readonly relevancy: Date;
  readonly reasons: readonly DeliveryReason[];
}

/** The reader changed their list in a way that cannot be reported item by item. */
export interface ListEvent {
  readonly kind: 'list';
  readonly change: ListChange;
}

/** Something that may change the reader's notifications: of these kinds, about an action or a day. */
export interface NotificationSignal {
  readonly kind: 'notification';
  /** Empty: any. */
  readonly of: string;
  /** Empty: how far the reader has read, or what they are notified of. */
  readonly kinds: readonly NotificationKind[];
}

/** An interaction with the action of a thread has changed. */
export interface InteractionSignal {
  readonly kind: 'interaction';
  readonly actionId: ActionId;
  readonly interactionId: InteractionId;
  /** It may be shown no more. */
  readonly isGone: boolean;
}

/** A change of what somebody watches. Contains references only: visibility is decided when it is sent. */
export type LiveEvent = EntryEvent | ListEvent | NotificationSignal | InteractionSignal;

export interface LiveAppend {
  readonly userId: UserId;
  readonly event: LiveEvent;
}

/** A message to a watcher. Every message has the cursor from which to resume after it. */
export type LiveMessage =
  | { readonly kind: 'ready'; readonly cursor: string }
  | { readonly kind: 'event'; readonly cursor: string; readonly event: LiveEvent }
  | { readonly kind: 'resync'; readonly cursor: string; readonly reason: ResyncReason };

export interface LiveMessages extends AsyncIterableIterator<LiveMessage, undefined> {
  /** Takes unread events, oldest first, at most `limit`; stops at a message that is not an event. */
  takeEvents(limit: number): Extract<LiveMessage, { kind: 'event' }>[];
  /** Whether the next message is an event that can be taken now. */
  readonly hasEvents: boolean;
  /**
   * Calls `wake` once when a message arrives or the stream ends. `false`: there is a message, or the stream has ended. Must
   * not be called while next() is pending.
   */
  whenSome(wake: () => void): boolean;
  /** Number of messages that may remove something from the list. A decision made before it increased may be outdated. */
  readonly withdrawals: number;
}

export interface WatchOptions {
  readonly userId: UserId;
  /** Cursor of an earlier message; absent: from now on. An unusable one is answered by `resync`. */
  readonly after?: string;
  /** Ends the stream without an error. */
  readonly signal: EndSignal;
}

/**
 * The transport of the log did not answer or refused, or the log is closed. A delivering caller logs it and continues: the
 * log itself notifies the affected watchers as soon as it can.
 */
export class LiveLogUnavailable extends FanfareError {
  constructor(message: string, cause?: unknown) {
    super('UNAVAILABLE', message, { cause });
  }
}

/** Logs of all watched readers, and of slices and threads, by `sliceLog` and `threadLog`. README.md describes the protocol; both adapters pass one conformance suite. */
export interface LiveLog extends AsyncDisposable {
  /** @throws LiveLogUnavailable while events could not be appended. */
  check(): Promise<void>;
  /**
   * Readers among these whose log is kept: somebody is watching, or was within the recovery window. One round trip for any
   * number of readers. Call after the feed was written, never before.
   * @throws LiveLogUnavailable; readers who may have missed something resync later.
   */
  watched(userIds: readonly UserId[]): Promise<UserId[]>;
  /**
   * All readers whose log is kept, without slices and threads, in unordered batches, possibly with duplicates. May omit readers who
   * start to be watched meanwhile. For events to many readers of whom few are watching.
   * @throws LiveLogUnavailable; everybody resyncs later.
   */
  allWatched(): AsyncIterable<readonly UserId[]>;
  /**
   * Appends events to the logs of watched readers and wakes their watchers. Events of one reader keep their order. Appending
   * for an unwatched reader is allowed and cheap.
   * @throws LiveLogUnavailable when some or all of the entries may not have been appended; their readers resync later.
   */
  append(entries: readonly LiveAppend[]): Promise<void>;
  /**
   * Watches a reader's log: `ready` first, then messages missed since `after`, then live events, each once and in order;
   * `resync` if completeness cannot be guaranteed. Resolves once nothing later can be missed. The result can be iterated
   * once; it holds its resources until the signal fires or its iterator returns, iterated or not.
   * @throws LiveLogUnavailable
   */
  watch(options: WatchOptions): Promise<LiveMessages>;
  /**
   * Keeps a reader's log from now on as long as if a watcher had just left, and returns the cursor of its end: `watch` after
   * it delivers everything appended from here on, or `resync`.
   * @throws LiveLogUnavailable
   */
  position(userId: UserId): Promise<string>;
  /**
   * Drops a reader's log with all stored data. If the reader is still watching, the watcher receives `resync`, and a new log
   * is kept from then on.
   * @throws LiveLogUnavailable
   */
  forget(userId: UserId): Promise<void>;
  /**
   * All watchers receive `resync`, and so do all that resume: some may have missed events, and it is not known which.
   * @throws LiveLogUnavailable
   */
  interrupt(): Promise<void>;
}

/** Where a process writes down that it knows of events that watchers may have missed, so that this outlives it. */
export interface GapNotes {
  /** Resolves when it is written down, before a caller learns of the failure. @throws errors of the database */
  noted(log: LiveLog): Promise<void>;
  /** All watchers of this log who may have missed something have been notified. */
  announced(log: LiveLog): void;
}

const refused = () => Promise.reject(new LiveLogUnavailable('Live log: nobody can watch it'));

/** A log that nobody watches, for changes that are announced in another way. */
export const UNWATCHED: LiveLog = {
  check: () => Promise.resolve(),
  watched: () => Promise.resolve([]),
  async *allWatched() {
    // There are none.
  },
  append: () => Promise.resolve(),
  watch: refused,
  position: refused,
  forget: () => Promise.resolve(),
  interrupt: () => Promise.resolve(),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

/** Limits of a live log; the README.md of this folder explains each. */
export interface LiveLogLimits {
  /** Events kept per log. Default 1000. */
  readonly logLength: number;
  /** The recovery window in milliseconds. Default 300 000. */
  readonly windowMs: number;
  /** Unread live messages of one watcher. Default 1000. */
  readonly bufferLimit: number;
  /** Milliseconds between renewals of the watches. Default a tenth of the window, at most 10 000. */
  readonly renewEveryMs: number;
  /** How long a watch lasts without renewal: longer than the window, however late in an interval a watcher vanishes. */
  readonly keepMs: number;
}

export type LiveLogOptions = Partial<Omit<LiveLogLimits, 'keepMs'>>;

/** @throws RangeError on a limit that is not a positive whole number. */
export function resolveLimits(options: LiveLogOptions): LiveLogLimits {
  const logLength = options.logLength ?? 1000;
  const windowMs = options.windowMs ?? 300_000;
  const bufferLimit = options.bufferLimit ?? 1000;
  const renewEveryMs = options.renewEveryMs ?? Math.max(1, Math.min(10_000, Math.floor(windowMs / 10)));
  for (const [name, value] of Object.entries({ logLength, windowMs, bufferLimit, renewEveryMs }))
    if (!Number.isSafeInteger(value) || value < 1)
      throw new RangeError(`Live log: ${name} must be a positive whole number, got ${String(value)}`);
  return { logLength, windowMs, bufferLimit, renewEveryMs, keepMs: windowMs + 3 * renewEveryMs };
}

export interface LogEntry {
  readonly at: number;
  readonly sequence: number;
  readonly event: LiveEvent;
}

export interface LogSnapshot {
  /** Its end. */
  readonly head: LogPosition;
  /** Entries after the requested position; empty if that belongs to another generation. */
  readonly missed: readonly LogEntry[];
}

/** `null` when `missed` contains everything after a position, otherwise the reason why not. */
export function findHole(position: LogPosition, snapshot: LogSnapshot): ResyncReason | null {
  const { head, missed } = snapshot;
  if (position.generation === NOWHERE.generation) return 'invalid-cursor';
  if (position.generation !== head.generation)
    return epochOf(position.generation) === epochOf(head.generation) ? 'log-interrupted' : 'log-lost';
  if (position.sequence > head.sequence) return 'invalid-cursor';
  const isUnbroken =
    missed.length === head.sequence - position.sequence &&
    missed.every((entry, index) => entry.sequence === position.sequence + 1 + index);
  return isUnbroken ? null : 'window-passed';
}
