/** Ids that share a stamp. More buckets make stamps larger; fewer make a change invalidate more unchanged entries. */
const BUCKETS = 256;
const OFFSET_BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/** Bucket of an id, from "0" to "255", by its FNV-1a hash: the same in every process and release. */
export function bucketOf(id: string): string {
  let hash = OFFSET_BASIS;
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), PRIME);
  return String((hash >>> 0) % BUCKETS);
}
