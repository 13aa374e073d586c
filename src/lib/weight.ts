/** A field of an object: its value or where it is, and its share of what says which fields there are. */
const FIELD_BYTES = 24;
const OBJECT_BYTES = 64;
/** With room for the elements that it has not got yet, as arrays are made that grow one by one. */
const ARRAY_BYTES = 192;
const DATE_BYTES = 112;
/** A number with a fraction or of many digits; all others take no more than their field. */
const NUMBER_BYTES = 16;
const STRING_BYTES = 24;

/** What a map takes for an entry, and what lists that say in which order it was used. */
export const ENTRY_BYTES = 192;

/** Characters that take two bytes, and all others of their string with them. */
const WIDE = /[\u0100-\uffff]/;

/** What a text takes in memory, in bytes. */
export function weightOfText(text: string): number {
  return STRING_BYTES + text.length * (WIDE.test(text) ? 2 : 1);
}

/** What a plain value takes in memory, in bytes: rather too much than too little. At least 1. */
export function weightOf(value: unknown): number {
  if (typeof value === 'string') return weightOfText(value);
  if (typeof value === 'number') return NUMBER_BYTES;
  if (typeof value !== 'object' || value === null) return 1;
  if (value instanceof Date) return DATE_BYTES;
  let weight = Array.isArray(value) ? ARRAY_BYTES : OBJECT_BYTES;
  for (const part of Object.values(value)) weight += FIELD_BYTES + weightOf(part);
  return weight;
}

/** The same of an entry of a map. */
export function weightOfEntry(value: object, key: string): number {
  return ENTRY_BYTES + weightOfText(key) + weightOf(value);
}
