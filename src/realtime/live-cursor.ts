import { createHash } from 'node:crypto';
import type { UserId } from '../domain/action.ts';

/** The hex digits of an epoch, and of a generation, which starts with its epoch. */
export const EPOCH_LENGTH = 16;

/** A place in one reader's log: behind the event with this number. */
export interface LogPosition {
  readonly generation: string;
  /** The log's own time of that event in ms; 0 before the first. */
  readonly at: number;
  /** Rises by one with each event of a generation; 0 before the first. */
  readonly sequence: number;
}

const FORMAT = /^1:[\w-]{8}:([0-9a-f]{24}):(\d{1,15})-(\d{1,15})$/;
const MAX_LENGTH = 128;

export function epochOf(generation: string): string {
  return generation.slice(0, EPOCH_LENGTH);
}

/** Short and one-way: a cursor must not give away a reader's id, only tell readers apart. */
export function readerTag(userId: UserId): string {
  return createHash('sha256').update(userId).digest('base64url').slice(0, 8);
}

export function encodeLiveCursor(tag: string, position: LogPosition): string {
  const { generation, at, sequence } = position;
  return Buffer.from(`1:${tag}:${generation}:${String(at)}-${String(sequence)}`).toString('base64url');
}

/** The position behind a cursor of this reader; null for anything else. */
export function decodeLiveCursor(tag: string, cursor: string): LogPosition | null {
  if (cursor.length > MAX_LENGTH) return null;
  const match = FORMAT.exec(Buffer.from(cursor, 'base64url').toString());
  if (match === null) return null;
  const [, generation = '', at, sequence] = match;
  const position = { generation, at: Number(at), sequence: Number(sequence) };
  // One spelling is true, with this reader's tag; the decoder of base64url alone would skip what it does not know.
  return encodeLiveCursor(tag, position) === cursor ? position : null;
}
