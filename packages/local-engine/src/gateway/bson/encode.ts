import { BSON, type Document } from 'mongodb';

/** Encodes a reply as BSON bytes; fields that are undefined are left out. */
export function encode(document: Document): Buffer {
  const bytes = BSON.serialize(document, { ignoreUndefined: true });
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Decodes bytes that are small or rare. 64-bit integers stay Long, so that encoding them again changes nothing. */
export function decode(bytes: Buffer): Document {
  return BSON.deserialize(bytes, { promoteLongs: false, promoteValues: true, bsonRegExp: true });
}
