import { fc } from './fast-check.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** Any sequence of UTF-16 units, halves of characters among them. */
export const anyText = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
});
const MEANT_BADLY: readonly Json[] = [
  ...['', '\u0000', '\ud800', '__proto__', 'constructor', '$where', 'a.b', '-1', 'NaN', 'null', ' '],
  ...['2026-02-30T00:00:00Z', '0000-01-01T00:00:00Z', '2026-01-01T00:00:00Z', '9'.repeat(400)],
  ...[-1, 0, -0, 1e308, 5e-324, 2 ** 31, 2 ** 53, 101, 0.1],
  ...[{ $gt: '' }, { $oid: '0123456789abcdef01234567' }, { $date: 0 }, [[]], [null], [{}]],
];
export const anything: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(...MEANT_BADLY),
  anyText,
  fc.json({ maxDepth: 3 }).map((text) => JSON.parse(text) as Json),
);

type Path = readonly string[];

function pathsOf(value: Json, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, [...path, name]))];
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function replaced(value: Json, [name, ...rest]: Path, by: Json): Json {
  if (name === undefined || typeof value !== 'object' || value === null) return by;
  if (isList(value)) return value.map((inner, n) => (String(n) === name ? replaced(inner, rest, by) : inner));
  return { ...value, [name]: replaced(value[name] ?? null, rest, by) };
}

/** What is valid, with one to three of its values exchanged; now and then nothing of it is left. */
export function spoilt(valid: Json): fc.Arbitrary<Json> {
  const change = fc.tuple(fc.constantFrom(...pathsOf(valid)), anything);
  return fc
    .array(change, { minLength: 1, maxLength: 3 })
    .map((changes) => changes.reduce((value, [path, by]) => replaced(value, path, by), valid));
}
