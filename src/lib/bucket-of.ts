/** What shares a stamp: with more, stamps are larger; with fewer, a change has more read again that did not change. */
const BUCKETS = 256;
const OFFSET_BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/** The bucket of an id by its hash (FNV-1a), from "0" to "255": the same in every process and release. */
export function bucketOf(id: string): string {
  let hash = OFFSET_BASIS;
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), PRIME);
  return String((hash >>> 0) % BUCKETS);
}
