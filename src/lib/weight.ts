/** A field of an object: its value or pointer, and its share of the object's shape. */
const FIELD_BYTES = 24;
const OBJECT_BYTES = 64;
/** Includes spare capacity: arrays that grow element by element reserve more than they use. */
const ARRAY_BYTES = 192;
const DATE_BYTES = 112;
/** A number with a fraction or many digits; other numbers fit into their field. */
const NUMBER_BYTES = 16;
const STRING_BYTES = 24;

/**
 * Options of an LRU cache of so many entries that takes memory as they come: with `max`, lru-cache reserves room for all of them
 * at once, which is 20 bytes each in every process.
 */
export const upToEntries = (most: number) => ({ maxSize: most, sizeCalculation: () => 1 });

/** An entry of a map, plus its place in the list that orders entries by use. */
export const ENTRY_BYTES = 192;

/** A single character of this range makes all characters of its string take two bytes. */
const WIDE = /[\u0100-\uffff]/;

/** Memory of a string, in bytes. */
export function weightOfText(text: string): number {
  return STRING_BYTES + text.length * (WIDE.test(text) ? 2 : 1);
}

/** Estimated memory of a plain value, in bytes; errs on the high side. At least 1. */
export function weightOf(value: unknown): number {
  if (typeof value === 'string') return weightOfText(value);
  if (typeof value === 'number') return NUMBER_BYTES;
  if (typeof value !== 'object' || value === null) return 1;
  if (value instanceof Date) return DATE_BYTES;
  let weight = Array.isArray(value) ? ARRAY_BYTES : OBJECT_BYTES;
  for (const part of Object.values(value)) weight += FIELD_BYTES + weightOf(part);
  return weight;
}

/** Estimated memory of a map entry. */
export function weightOfEntry(value: object, key: string): number {
  return ENTRY_BYTES + weightOfText(key) + weightOf(value);
}
