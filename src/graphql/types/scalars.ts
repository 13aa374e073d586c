import { valueFromASTUntyped } from 'graphql';
import { builder } from '../builder.ts';

const FORM = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(\.\d{1,3})?Z$/;
const FIRST = 0;
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * Parses an ISO 8601 instant in UTC, with whole seconds or up to milliseconds and a final `Z`, from 1970 to 9999. `null` for
 * anything else, including days that do not exist.
 */
export function parseDateTime(text: string): Date | null {
  const [, seconds] = FORM.exec(text) ?? [];
  const date = new Date(text);
  const time = date.getTime();
  if (seconds === undefined || !(time >= FIRST && time <= LAST)) return null;
  // JavaScript turns 30 February into 2 March: reject dates that do not round-trip.
  return date.toISOString().startsWith(seconds) ? date : null;
}

builder.scalarType('DateTime', {
  description:
    'An instant, ISO-8601 in UTC with milliseconds, such as 2014-02-10T10:50:42.389Z. Input may leave out the ' +
    'fraction; years 1970 to 9999.',
  serialize: (value) => value.toISOString(),
  parseValue(value) {
    const date = typeof value === 'string' ? parseDateTime(value) : null;
    if (date === null)
      throw new TypeError('DateTime must be an ISO-8601 instant in UTC, such as 2014-02-10T10:50:42.389Z');
    return date;
  },
});

builder.scalarType('JSON', {
  description: 'Any JSON value.',
  serialize: (value) => value,
  parseValue: (value) => value,
  parseLiteral: (node, variables) => plain(valueFromASTUntyped(node, variables)),
});

/** Objects from literals have no prototype: convert them to what JSON.parse would return. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}
