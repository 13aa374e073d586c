const SLOTS = 16_384;

/** Redis Cluster slot of keys with this hash tag: CRC16 (XMODEM) of its bytes. */
export function hashSlot(tag: string): number {
  let crc = 0;
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ ((crc & 0x8000) === 0 ? 0 : 0x1021)) & 0xffff;
  }
  return crc % SLOTS;
}

/** Hash tags with the given prefix whose slots are spread evenly; deterministic, so all processes get the same tags. */
export function spreadTags(prefix: string, count: number): string[] {
  const tags: string[] = [];
  for (let part = 0; part < count; part += 1) {
    let n = 0;
    while (Math.floor((hashSlot(`${prefix}${String(n)}`) * count) / SLOTS) !== part) n += 1;
    tags.push(`${prefix}${String(n)}`);
  }
  return tags;
}
