const OBJECT_BYTES = 48;
const FIELD_BYTES = 16;

/** Roughly what a plain value takes in memory, in bytes; at least 1. */
export function weightOf(value: unknown): number {
  if (typeof value === 'string') return FIELD_BYTES + value.length;
  if (typeof value !== 'object' || value === null) return FIELD_BYTES;
  let weight = OBJECT_BYTES;
  for (const part of Object.values(value)) weight += FIELD_BYTES + weightOf(part);
  return weight;
}
