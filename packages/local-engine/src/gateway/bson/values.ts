import { bsonType, type Field, type Peeked } from './peek.ts';

/** The text of a string field; undefined when it is missing or of another type. */
export function textOf(document: Peeked, name: string): string | undefined {
  const field = document.fields.get(name);
  if (field?.type !== bsonType.string) return undefined;
  return document.bytes.toString('utf8', field.value + 4, field.end - 1);
}

/** A number of any BSON number type that fits a double exactly enough for a command option. */
export function numberOf(document: Peeked, name: string): number | undefined {
  const field = document.fields.get(name);
  if (field === undefined) return undefined;
  if (field.type === bsonType.int) return document.bytes.readInt32LE(field.value);
  if (field.type === bsonType.double) return document.bytes.readDoubleLE(field.value);
  if (field.type === bsonType.long) return Number(document.bytes.readBigInt64LE(field.value));
  return undefined;
}

/** A 64-bit integer, such as a cursor id. */
export function longOf(document: Peeked, name: string): bigint | undefined {
  const field = document.fields.get(name);
  if (field?.type === bsonType.long) return document.bytes.readBigInt64LE(field.value);
  if (field?.type === bsonType.int) return BigInt(document.bytes.readInt32LE(field.value));
  return undefined;
}

/** True as MongoDB reads option flags: `true` or any number but zero. */
export function flagOf(document: Peeked, name: string): boolean {
  const field = document.fields.get(name);
  if (field?.type === bsonType.boolean) return document.bytes[field.value] === 1;
  return (numberOf(document, name) ?? 0) !== 0;
}

/** The bytes of an embedded document; undefined when the field is missing or something else. */
export function embedded(document: Peeked, name: string): Buffer | undefined {
  const field = document.fields.get(name);
  if (field?.type !== bsonType.document) return undefined;
  return document.bytes.subarray(field.value, field.end);
}

/** The bytes of an array, which BSON writes as a document with the names 0, 1, 2 … */
export function arrayOf(document: Peeked, name: string): Buffer | undefined {
  const field = document.fields.get(name);
  if (field?.type !== bsonType.array) return undefined;
  return document.bytes.subarray(field.value, field.end);
}

/** A copy of the document with only the fields that `keep` wants, in their order and without re-encoding. */
export function selectFields(document: Peeked, keep: (field: Field) => boolean): Buffer {
  const parts: Buffer[] = [];
  let length = 5;
  for (const field of document.fields.values()) {
    if (!keep(field)) continue;
    parts.push(document.bytes.subarray(field.start, field.end));
    length += field.end - field.start;
  }
  if (length === document.bytes.length) return document.bytes;
  const copy = Buffer.allocUnsafe(length);
  copy.writeInt32LE(length, 0);
  let at = 4;
  for (const part of parts) at += part.copy(copy, at);
  copy[at] = 0;
  return copy;
}
