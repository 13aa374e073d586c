import { DELIVERY_REASONS, type DeliveryReason } from '../domain/newsfeed-item.ts';
import { LIST_CHANGES, type ListChange, type LiveEvent } from './live-log.ts';
import type { LogEntry, LogSnapshot } from './live-resume.ts';
import type { LiveFrame } from './live-watcher.ts';

const KINDS = { a: 'added', u: 'updated', r: 'removed' } as const;

/** How an event lies in a stream. */
export function encodeEvent(event: LiveEvent): string {
  if (event.kind === 'list') return JSON.stringify(['l', event.change]);
  const { kind, actionId, relevancy, reasons } = event;
  return JSON.stringify([kind.charAt(0), actionId, relevancy.getTime(), reasons]);
}

/** @throws TypeError on anything encodeEvent does not write. */
export function decodeEvent(text: string): LiveEvent {
  const parts: unknown = JSON.parse(text);
  if (!Array.isArray(parts)) throw malformed(text);
  const [letter, actionId, relevancy, reasons] = parts as readonly unknown[];
  if (letter === 'l' && isListChange(actionId)) return { kind: 'list', change: actionId };
  const kind = letter === 'a' || letter === 'u' || letter === 'r' ? KINDS[letter] : null;
  if (kind === null || typeof actionId !== 'string' || typeof relevancy !== 'number') throw malformed(text);
  if (!Array.isArray(reasons) || !reasons.every(isReason)) throw malformed(text);
  return { kind, actionId, relevancy: new Date(relevancy), reasons };
}

/** What comes over a reader's channel: `<generation> <id> <event>`, or `<generation>` alone. */
export function decodeFrame(text: string): LiveFrame {
  const generationEnd = text.indexOf(' ');
  if (generationEnd === -1) return { generation: text, entry: null };
  const idEnd = text.indexOf(' ', generationEnd + 1);
  return {
    generation: text.slice(0, generationEnd),
    entry: decodeEntry(text.slice(generationEnd + 1, idEnd), text.slice(idEnd + 1)),
  };
}

/** The reply of OPEN_SCRIPT. */
export function decodeSnapshot(reply: unknown): LogSnapshot {
  const [generation, sequence, at, ...rest] = textArray(reply);
  if (generation === undefined || sequence === undefined || at === undefined) throw malformed(String(reply));
  const missed: LogEntry[] = [];
  for (let i = 0; i + 1 < rest.length; i += 2) missed.push(decodeEntry(rest[i] ?? '', rest[i + 1] ?? ''));
  return { head: { generation, sequence: Number(sequence), at: Number(at) }, missed };
}

/** The reply of RENEW_SCRIPT, one for each reader asked for; null where the log has not been kept. */
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

function decodeEntry(id: string, event: string): LogEntry {
  const [at, sequence] = id.split('-');
  return { at: Number(at), sequence: Number(sequence), event: decodeEvent(event) };
}

function textArray(reply: unknown): string[] {
  if (!Array.isArray(reply) || !reply.every((part) => typeof part === 'string'))
    throw malformed(String(reply));
  return reply;
}

function isListChange(value: unknown): value is ListChange {
  return (LIST_CHANGES as readonly unknown[]).includes(value);
}

function isReason(value: unknown): value is DeliveryReason {
  return (DELIVERY_REASONS as readonly unknown[]).includes(value);
}

function malformed(text: string): TypeError {
  return new TypeError(`Malformed entry of a live log: ${text.slice(0, 200)}`);
}
