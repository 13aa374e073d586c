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
