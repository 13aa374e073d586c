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

/**
 * Encodes an opaque cursor. The checksum covers the list, so truncated and foreign cursors are refused. Without tenants it has
 * no key: anyone who knows the list can make one, so each decoder checks the form of what it reads.
 */
function encodeCursor(list: string, payload: Buffer): string {
  const bytes = Buffer.allocUnsafe(1 + CHECK_BYTES + payload.length);
  bytes.writeUInt8(VERSION);
  bytes.write(checkSum(list, payload), 1, CHECK_BYTES, 'binary');
  payload.copy(bytes, 1 + CHECK_BYTES);
  return bytes.toString('base64url');
}

/** @param length of its payload, if it is known. @throws FanfareError BAD_CURSOR */
function decodeCursor(list: string, cursor: string, length?: number): Buffer {
  const payload = payloadOf(list, cursor, length);
  if (payload === null) throw badCursor();
  return payload;
}

/** `null`: it is not a cursor of the list. */
function payloadOf(list: string, cursor: string, length?: number): Buffer | null {
  const bytes = Buffer.from(cursor, 'base64url');
  const payload = bytes.subarray(1 + CHECK_BYTES);
  const isOurs =
    bytes[0] === VERSION &&
    bytes.length > CHECK_BYTES &&
    payload.length === (length ?? payload.length) &&
    bytes.toString('base64url') === cursor &&
    checkSum(list, payload) === bytes.toString('binary', 1, 1 + CHECK_BYTES);
  return isOurs ? payload : null;
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
    time: timeOf(payload.readDoubleBE(0)),
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
  /** Earliest `conducted` of actions that are ranked. */
  readonly since: Date;
  /** `ranked`: those actions, ordered by score. `older`: the actions after them, ordered by `conducted`. */
  readonly zone: 'ranked' | 'older';
  /** Score in the `ranked` zone, `conducted` in milliseconds in the `older` zone. */
  readonly value: number;
  readonly actionId: ActionId;
}

const RANKED_BYTES = 8 + 1 + 8 + 12 + 8;

export function encodeRanked(list: string, cursor: RankedCursor): string {
  const payload = Buffer.alloc(RANKED_BYTES);
  payload.writeDoubleBE(cursor.generation.getTime(), 0);
  payload.writeUInt8(cursor.zone === 'ranked' ? 0 : 1, 8);
  payload.writeDoubleBE(cursor.value, 9);
  payload.write(cursor.actionId, 17, 12, 'hex');
  payload.writeDoubleBE(cursor.since.getTime(), 29);
  return encodeCursor(list, payload);
}

/** @throws FanfareError BAD_CURSOR */
export function decodeRanked(list: string, cursor: string): RankedCursor {
  const payload = decodeCursor(list, cursor, RANKED_BYTES);
  return {
    generation: timeOf(payload.readDoubleBE(0)),
    zone: payload.readUInt8(8) === 0 ? 'ranked' : 'older',
    value: numberOf(payload.readDoubleBE(9)),
    actionId: payload.toString('hex', 17, 29),
    since: timeOf(payload.readDoubleBE(29)),
  };
}

export function isRankedCursor(list: string, cursor: string): boolean {
  return payloadOf(list, cursor, RANKED_BYTES) !== null;
}

/** A place in a list that is ordered by a number that counts or by a time, then by a hexadecimal id if there is one. */
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
  return { at: timeOf(payload.readDoubleBE(0)).getTime(), id: payload.toString('hex', 8) };
}

const ID_BYTES = 12;

/** A list in order of id. */
export function encodeId(list: string, id: string): string {
  return encodeCursor(list, Buffer.from(id, 'hex'));
}

/** @throws FanfareError BAD_CURSOR */
export function decodeId(list: string, cursor: string): string {
  return decodeCursor(list, cursor, ID_BYTES).toString('hex');
}

/** The possible values of a cursor of several values, by the name of its kind. */
interface RowValues {
  readonly text: string;
  readonly number: number;
  readonly time: Date;
  /** 24 hexadecimal digits. */
  readonly id: string;
}
type RowShape = readonly (keyof RowValues)[];
type Row<S extends RowShape> = { -readonly [K in keyof S]: RowValues[S[K]] };

/** A place in a list that is ordered by several values, such as a number, a time and the id of a member. */
export function encodeRow(list: string, values: readonly (string | number | Date)[]): string {
  const row = values.map((value) => (value instanceof Date ? value.getTime() : value));
  return encodeCursor(list, Buffer.from(JSON.stringify(row)));
}

/** @param shape the kinds of its values, in order. @throws FanfareError BAD_CURSOR */
export function decodeRow<const S extends RowShape>(list: string, cursor: string, shape: S): Row<S> {
  const row = rowIn(decodeCursor(list, cursor).toString());
  if (!Array.isArray(row) || row.length !== shape.length) throw badCursor();
  return shape.map((kind, index) => READ[kind](row[index])) as Row<S>;
}

function rowIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badCursor();
  }
}

const READ: { readonly [K in keyof RowValues]: (value: unknown) => RowValues[K] } = {
  text(value) {
    if (typeof value !== 'string' || !value.isWellFormed() || value.includes('\0')) throw badCursor();
    return value;
  },
  number: numberOf,
  time: timeOf,
  id(value) {
    if (typeof value !== 'string' || !/^[0-9a-f]{24}$/.test(value)) throw badCursor();
    return value;
  },
};

function numberOf(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw badCursor();
  return value;
}

/** Years of four digits: there is a time above each. */
export const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

function timeOf(value: unknown): Date {
  const time = new Date(numberOf(value));
  if (!(Math.abs(time.getTime()) <= LAST_TIME)) throw badCursor();
  return time;
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
