import { hash } from 'node:crypto';
import { FanfareError } from './errors.ts';
import type { ActionId } from './action.ts';

const VERSION = 1;
const CHECK_BYTES = 6;
const POSITION_BYTES = 8 + 12;

/** Last position of a page of actions or feed entries. */
interface PositionCursor {
  readonly time: Date;
  readonly actionId: ActionId;
}

/** Encodes an opaque cursor. The checksum covers the list, so truncated, forged and foreign cursors are refused. */
export function encodeCursor(list: string, payload: Buffer): string {
  const bytes = Buffer.allocUnsafe(1 + CHECK_BYTES + payload.length);
  bytes.writeUInt8(VERSION);
  bytes.write(checkSum(list, payload), 1, CHECK_BYTES, 'binary');
  payload.copy(bytes, 1 + CHECK_BYTES);
  return bytes.toString('base64url');
}

/** @param length of its payload, if it is known. @throws FanfareError BAD_CURSOR */
export function decodeCursor(list: string, cursor: string, length?: number): Buffer {
  const bytes = Buffer.from(cursor, 'base64url');
  const payload = bytes.subarray(1 + CHECK_BYTES);
  const isOurs =
    bytes[0] === VERSION &&
    bytes.length > CHECK_BYTES &&
    payload.length === (length ?? payload.length) &&
    bytes.toString('base64url') === cursor &&
    checkSum(list, payload) === bytes.toString('binary', 1, 1 + CHECK_BYTES);
  if (!isOurs) throw badCursor();
  return payload;
}

export function encodePosition(list: string, cursor: PositionCursor): string {
  return encodeCursor(list, positionBytes(cursor));
}

/** @throws FanfareError BAD_CURSOR */
export function decodePosition(list: string, cursor: string): PositionCursor {
  return positionIn(decodeCursor(list, cursor, POSITION_BYTES));
}

function positionBytes({ time, actionId }: PositionCursor): Buffer {
  const bytes = Buffer.alloc(POSITION_BYTES);
  bytes.writeDoubleBE(time.getTime(), 0);
  bytes.write(actionId, 8, 12, 'hex');
  return bytes;
}

function positionIn(payload: Buffer): PositionCursor {
  return {
    time: new Date(payload.readDoubleBE(0)),
    actionId: payload.toString('hex', 8, 20),
  };
}

/** Upper bound on the groups that a cursor remembers. It bounds the length of a cursor: 1.7 KB. */
const MAX_LISTED_GROUPS = 200;
const MARK_BYTES = 6;

export interface GroupCursor extends PositionCursor {
  /** Marks of the groups that the paging session has listed so far, the latest last. */
  readonly listed: readonly string[];
}

/** Identifies a group in a cursor: a checksum, one character per byte. */
export function groupMark(list: string, groupKey: string): string {
  return hash('sha256', `${list}\0${groupKey}`, 'binary').slice(0, MARK_BYTES);
}

/** Remembers the latest 200 groups. */
export function encodeGroups(list: string, { listed, ...position }: GroupCursor): string {
  const marks = Buffer.from(listed.slice(-MAX_LISTED_GROUPS).join(''), 'binary');
  return encodeCursor(list, Buffer.concat([positionBytes(position), marks]));
}

/** @throws FanfareError BAD_CURSOR */
export function decodeGroups(list: string, cursor: string): GroupCursor {
  const payload = decodeCursor(list, cursor);
  const length = (payload.length - POSITION_BYTES) / MARK_BYTES;
  if (length < 0 || !Number.isInteger(length)) throw badCursor();
  const marks = payload.toString('binary', POSITION_BYTES);
  const listed = Array.from({ length }, (_, n) => marks.slice(n * MARK_BYTES, (n + 1) * MARK_BYTES));
  return { ...positionIn(payload), listed };
}

/** The smallest position above the given one: a page that continues after it begins with the given position. */
export function positionAbove({ time, actionId }: PositionCursor): PositionCursor {
  if (/^f+$/.test(actionId)) return { time: new Date(time.getTime() + 1), actionId: '0'.repeat(24) };
  return { time, actionId: (BigInt(`0x${actionId}`) + 1n).toString(16).padStart(24, '0') };
}

export interface RankedCursor {
  /** Scoring generation the paging session started with. */
  readonly generation: Date;
  /** `ranked`: actions ordered by score. `older`: the actions after them, ordered by `conducted`. */
  readonly zone: 'ranked' | 'older';
  /** Score in the `ranked` zone, `conducted` in milliseconds in the `older` zone. */
  readonly value: number;
  readonly actionId: ActionId;
}

const RANKED_BYTES = 8 + 1 + 8 + 12;

export function encodeRanked(list: string, cursor: RankedCursor): string {
  const payload = Buffer.alloc(RANKED_BYTES);
  payload.writeDoubleBE(cursor.generation.getTime(), 0);
  payload.writeUInt8(cursor.zone === 'ranked' ? 0 : 1, 8);
  payload.writeDoubleBE(cursor.value, 9);
  payload.write(cursor.actionId, 17, 12, 'hex');
  return encodeCursor(list, payload);
}

/** @throws FanfareError BAD_CURSOR */
export function decodeRanked(list: string, cursor: string): RankedCursor {
  const payload = decodeCursor(list, cursor, RANKED_BYTES);
  return {
    generation: new Date(payload.readDoubleBE(0)),
    zone: payload.readUInt8(8) === 0 ? 'ranked' : 'older',
    value: payload.readDoubleBE(9),
    actionId: payload.toString('hex', 17, 29),
  };
}

/** A place in a list that is ordered by a number, then by a hexadecimal id if there is one. */
export function encodePlace(list: string, at: number, id = ''): string {
  const payload = Buffer.alloc(8 + id.length / 2);
  payload.writeDoubleBE(at, 0);
  payload.write(id, 8, 'hex');
  return encodeCursor(list, payload);
}

/** @param idBytes length of the id. @throws FanfareError BAD_CURSOR */
export function decodePlace(
  list: string,
  cursor: string,
  idBytes = 0,
): { readonly at: number; readonly id: string } {
  const payload = decodeCursor(list, cursor, 8 + idBytes);
  return { at: payload.readDoubleBE(0), id: payload.toString('hex', 8) };
}

function badCursor(): FanfareError {
  return new FanfareError('BAD_CURSOR', 'The cursor does not belong to this list');
}

/** Computed from strings, one character per byte: faster than buffers, and a page needs one checksum per entry. */
function checkSum(list: string, payload: Buffer): string {
  const length = Buffer.byteLength(list);
  const bytes = Buffer.allocUnsafe(length + 1 + payload.length);
  bytes.write(list);
  bytes.writeUInt8(0, length);
  payload.copy(bytes, length + 1);
  return hash('sha256', bytes, 'binary').slice(0, CHECK_BYTES);
}
