import { DELIVERY_REASONS, type DeliveryReason } from '../domain/newsfeed-item.ts';
import { NOTIFICATION_KINDS, type NotificationKind } from '../domain/notification.ts';
import type { UserId } from '../domain/action.ts';
import {
  LIST_CHANGES,
  type ListChange,
  type LiveAppend,
  type LiveEvent,
  type LogEntry,
  type LogSnapshot,
} from './live-log.ts';
import type { LiveFrame } from './live-watcher.ts';
import type { RedisConnections } from '../connections/redis.ts';

const KINDS = { a: 'added', u: 'updated', r: 'removed' } as const;

export function encodeEvent(event: LiveEvent): string {
  if (event.kind === 'list') return JSON.stringify(['l', event.change]);
  if (event.kind === 'notification') return JSON.stringify(['n', event.of, event.kinds]);
  if (event.kind === 'interaction')
    return JSON.stringify(['i', event.actionId, event.interactionId, event.isGone]);
  const { kind, actionId, relevancy, reasons } = event;
  return JSON.stringify([kind.charAt(0), actionId, relevancy.getTime(), reasons]);
}

/** @throws TypeError for anything that encodeEvent does not produce. */
export function decodeEvent(text: string): LiveEvent {
  const parts: unknown = JSON.parse(text);
  if (!Array.isArray(parts)) throw malformed(text);
  const [letter, actionId, relevancy, reasons] = parts as readonly unknown[];
  if (letter === 'l' && isListChange(actionId)) return { kind: 'list', change: actionId };
  if (letter === 'n' && typeof actionId === 'string' && Array.isArray(relevancy) && relevancy.every(isKind))
    return { kind: 'notification', of: actionId, kinds: relevancy };
  if (letter === 'i' && typeof actionId === 'string' && typeof relevancy === 'string')
    return { kind: 'interaction', actionId, interactionId: relevancy, isGone: reasons === true };
  const kind = letter === 'a' || letter === 'u' || letter === 'r' ? KINDS[letter] : null;
  if (kind === null || typeof actionId !== 'string' || typeof relevancy !== 'number') throw malformed(text);
  if (!Array.isArray(reasons) || !reasons.every(isReason)) throw malformed(text);
  return { kind, actionId, relevancy: new Date(relevancy), reasons };
}

/** Arguments of APPEND_SCRIPT; an event for many readers occurs once. */
export function encodeAppends(appends: readonly LiveAppend[]): string[] {
  const numbers = new Map<string, number>();
  // Many readers often share the same event object.
  const known = new Map<LiveEvent, string>();
  const readers: string[] = [];
  for (const { userId, event } of appends) {
    const text = known.get(event) ?? encodeEvent(event);
    known.set(event, text);
    const number = numbers.get(text) ?? numbers.size + 1;
    numbers.set(text, number);
    readers.push(userId, String(number));
  }
  return [String(numbers.size), ...numbers.keys(), ...readers];
}

/** A message to a process about one reader. */
export interface LiveHint {
  readonly userId: UserId;
  readonly frame: LiveFrame;
}

/** The events, then per reader: id, generation, entry id (none: a gap was marked) and number of the event. */
export function decodeHints(text: string): LiveHint[] {
  const parts: unknown = JSON.parse(text);
  if (!Array.isArray(parts)) throw malformed(text);
  const [texts, readers] = parts as readonly unknown[];
  if (!Array.isArray(texts) || !Array.isArray(readers)) throw malformed(text);
  const events = texts.map((event) => (event === '' ? null : decodeEvent(String(event))));
  const hints: LiveHint[] = [];
  // One message usually has the same position and event for many readers.
  let entryId = '';
  let entry: LogEntry | null = null;
  for (let i = 0; i + 3 < readers.length; i += 4) {
    const userId: unknown = readers[i];
    const generation: unknown = readers[i + 1];
    const id: unknown = readers[i + 2];
    const event = events[Number(readers[i + 3])];
    if (typeof userId !== 'string' || typeof generation !== 'string' || typeof id !== 'string')
      throw malformed(text);
    if (id !== '' && event == null) throw malformed(text);
    if (event == null) entry = null;
    else if (entry?.event !== event || id !== entryId) entry = toEntry(id, event);
    entryId = id;
    hints.push({ userId, frame: { generation, entry } });
  }
  return hints;
}

/** Parses what OPEN_SCRIPT replies for one log. */
export function decodeSnapshot(reply: unknown): LogSnapshot {
  const [generation, sequence, at, ...rest] = textArray(reply);
  if (generation === undefined || sequence === undefined || at === undefined) throw malformed(String(reply));
  const missed: LogEntry[] = [];
  for (let i = 0; i + 1 < rest.length; i += 2)
    missed.push(toEntry(rest[i] ?? '', decodeEvent(rest[i + 1] ?? '')));
  return { head: { generation, sequence: Number(sequence), at: Number(at) }, missed };
}

/** Parses the reply of RENEW_SCRIPT: one result per reader; `null` if the log was not kept. */
export function decodeRenewal(
  reply: unknown,
): ({ readonly generation: string; readonly sequence: number } | null)[] {
  const texts = textArray(reply);
  const renewals: ReturnType<typeof decodeRenewal> = [];
  for (let i = 0; i + 1 < texts.length; i += 2) {
    const generation = texts[i] ?? '';
    renewals.push(generation === '' ? null : { generation, sequence: Number(texts[i + 1]) });
  }
  return renewals;
}

function toEntry(id: string, event: LiveEvent): LogEntry {
  const [at, sequence] = id.split('-');
  return { at: Number(at), sequence: Number(sequence), event };
}

function textArray(reply: unknown): string[] {
  if (!Array.isArray(reply) || !reply.every((part) => typeof part === 'string'))
    throw malformed(String(reply));
  return reply;
}

function isListChange(value: unknown): value is ListChange {
  return (LIST_CHANGES as readonly unknown[]).includes(value);
}

function isKind(value: unknown): value is NotificationKind {
  return (NOTIFICATION_KINDS as readonly unknown[]).includes(value);
}

function isReason(value: unknown): value is DeliveryReason {
  return (DELIVERY_REASONS as readonly unknown[]).includes(value);
}

function malformed(text: string): TypeError {
  return new TypeError(`Malformed entry of a live log: ${text.slice(0, 200)}`);
}

/** Names under the caller's prefix; listed in README.md. The scripts build the same names. */
export function hintChannel(prefix: string, processName: string): string {
  return `${prefix}live:hints:${processName}`;
}

export function watchedKey(prefix: string): string {
  return `${prefix}live:watched`;
}

export function endedChannel(prefix: string): string {
  return `${prefix}live:ended`;
}

export function workChannel(prefix: string): string {
  return `${prefix}work`;
}

/** Exists once a worker has taken the offer. */
export function takenKey(prefix: string, offerId: string): string {
  return `${prefix}work:taken:${offerId}`;
}

/** How live log, signals and session ends use one Redis. */
export interface RedisLink {
  /** Owned by the caller, which closes it after its users. */
  readonly redis: RedisConnections;
  /** Prefix of every key and channel, such as `fanfare:<db>:`. */
  readonly prefix: string;
  /** Called for survivable errors with what was attempted; it will be retried. */
  readonly onTrouble?: (what: string, error: unknown) => void;
}
