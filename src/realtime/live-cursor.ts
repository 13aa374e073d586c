import { createHash } from 'node:crypto';
import type { UserId } from '../domain/action.ts';

/** Hex digits of an epoch, and of a generation, which starts with its epoch. */
export const EPOCH_LENGTH = 16;

/** A position in one reader's log: after the event with this number. */
export interface LogPosition {
  readonly generation: string;
  /** The log's own time of that event in ms; 0 before the first. */
  readonly at: number;
  /** Incremented by each event of a generation; 0 before the first. */
  readonly sequence: number;
}

/** A position in no log: a watcher that resumes from it gets a resync. */
export const NOWHERE: LogPosition = { generation: 'f'.repeat(24), at: 0, sequence: 0 };

const FORMAT = /^1:[\w-]{8}:([0-9a-f]{24}):(\d{1,15})-(\d{1,15})$/;
const MAX_LENGTH = 128;

export function epochOf(generation: string): string {
  return generation.slice(0, EPOCH_LENGTH);
}

/** Short and one-way: distinguishes readers without revealing their ids. */
export function readerTag(userId: UserId): string {
  return createHash('sha256').update(userId).digest('base64url').slice(0, 8);
}

export function encodeLiveCursor(tag: string, { generation, at, sequence }: LogPosition): string {
  return toBase64Url(`${headOf(tag, generation)}${String(at)}-${String(sequence)}`);
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
    const { generation, at, sequence } = position;
    if (generation !== this.#generation) {
      const head = headOf(this.#tag, generation);
      this.#generation = generation;
      // Base64 encodes three bytes at a time: only then can the parts be encoded separately.
      this.#head = head.length % 3 === 0 ? toBase64Url(head) : null;
    }
    return this.#head === null ? encodeLiveCursor(this.#tag, position) : this.#head + placeText(at, sequence);
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
  const [, generation = '', at, sequence] = match;
  const position = { generation, at: Number(at), sequence: Number(sequence) };
  // Accept only the canonical spelling with this reader's tag: the decoder would skip unknown characters.
  return encodeLiveCursor(tag, position) === cursor ? position : null;
}
