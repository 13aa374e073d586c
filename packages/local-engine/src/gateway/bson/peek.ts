/**
 * A lazy BSON reader: it finds the top-level fields of a document without decoding their values, so that
 * a command of 48 MB costs no more than its few field names. Every step is bounds-checked, because the
 * bytes come from any client that connects.
 */

/** The bytes are not a well-formed BSON document. */
export class BsonFault extends Error {
  override readonly name = 'BsonFault';
}

/** One top-level field: `start` is its type byte, `value` the first byte of its value, `end` one past it. */
export interface Field {
  readonly name: string;
  readonly type: number;
  readonly start: number;
  readonly value: number;
  readonly end: number;
}

/** A document whose fields were found but not decoded. */
export interface Peeked {
  readonly bytes: Buffer;
  readonly fields: ReadonlyMap<string, Field>;
}

export const bsonType = {
  double: 0x01,
  string: 0x02,
  document: 0x03,
  array: 0x04,
  binary: 0x05,
  undefined: 0x06,
  objectId: 0x07,
  boolean: 0x08,
  date: 0x09,
  null: 0x0a,
  regex: 0x0b,
  dbPointer: 0x0c,
  code: 0x0d,
  symbol: 0x0e,
  codeWithScope: 0x0f,
  int: 0x10,
  timestamp: 0x11,
  long: 0x12,
  decimal: 0x13,
  minKey: 0xff,
  maxKey: 0x7f,
} as const;

const smallestDocument = 5;

/** Finds the fields of `bytes`. A field named twice counts as its last occurrence. Throws BsonFault. */
export function peek(bytes: Buffer): Peeked {
  const length = documentLength(bytes, 0);
  if (length !== bytes.length) throw new BsonFault('The document has bytes behind its end');
  const fields = new Map<string, Field>();
  let at = 4;
  const last = length - 1;
  while (at < last) {
    const start = at;
    const type = bytes[at] ?? 0;
    const nameEnd = bytes.indexOf(0, at + 1);
    if (nameEnd < 0 || nameEnd >= last) throw new BsonFault('A field name does not end');
    const name = bytes.toString('utf8', at + 1, nameEnd);
    const value = nameEnd + 1;
    at = value + valueLength(bytes, type, value, last);
    if (at > last) throw new BsonFault(`The value of field "${name}" does not end`);
    fields.set(name, { name, type, start, value, end: at });
  }
  return { bytes, fields };
}

/** The length of the document that starts at `offset`, when it lies wholly inside `bytes`. Throws BsonFault. */
export function documentLength(bytes: Buffer, offset: number): number {
  if (offset + smallestDocument > bytes.length) throw new BsonFault('The document is cut off');
  const length = bytes.readInt32LE(offset);
  if (length < smallestDocument || offset + length > bytes.length) {
    throw new BsonFault(`The document claims ${String(length)} bytes`);
  }
  if (bytes[offset + length - 1] !== 0) throw new BsonFault('The document has no terminator');
  return length;
}

/** The documents of a concatenated sequence, as slices of it. Throws BsonFault when the lengths do not add up. */
export function splitSequence(sequence: Buffer): Buffer[] {
  const documents: Buffer[] = [];
  let at = 0;
  while (at < sequence.length) {
    const end = at + documentLength(sequence, at);
    documents.push(sequence.subarray(at, end));
    at = end;
  }
  return documents;
}

function valueLength(bytes: Buffer, type: number, at: number, limit: number): number {
  switch (type) {
    case bsonType.double:
    case bsonType.date:
    case bsonType.timestamp:
    case bsonType.long:
      return 8;
    case bsonType.string:
    case bsonType.code:
    case bsonType.symbol:
      return 4 + prefix(bytes, at, limit, 1);
    case bsonType.document:
    case bsonType.array:
    case bsonType.codeWithScope:
      return prefix(bytes, at, limit, smallestDocument);
    case bsonType.binary:
      return 5 + prefix(bytes, at, limit, 0);
    case bsonType.objectId:
      return 12;
    case bsonType.boolean:
      return 1;
    case bsonType.undefined:
    case bsonType.null:
    case bsonType.minKey:
    case bsonType.maxKey:
      return 0;
    case bsonType.regex: {
      const pattern = bytes.indexOf(0, at);
      const options = pattern < 0 ? -1 : bytes.indexOf(0, pattern + 1);
      if (options < 0 || options >= limit) throw new BsonFault('A regular expression does not end');
      return options + 1 - at;
    }
    case bsonType.dbPointer:
      return 16 + prefix(bytes, at, limit, 1);
    case bsonType.int:
      return 4;
    case bsonType.decimal:
      return 16;
    default:
      throw new BsonFault(`Unknown BSON type ${String(type)}`);
  }
}

function prefix(bytes: Buffer, at: number, limit: number, smallest: number): number {
  if (at + 4 > limit) throw new BsonFault('A length is cut off');
  const length = bytes.readInt32LE(at);
  if (length < smallest || length > limit - at) throw new BsonFault(`A value claims ${String(length)} bytes`);
  return length;
}
