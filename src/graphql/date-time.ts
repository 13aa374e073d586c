const FORM = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(\.\d{1,3})?Z$/;
const FIRST = 0;
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * Reads an ISO-8601 instant in UTC: whole seconds or up to milliseconds, `Z` at the end, 1970 to 9999. Null for
 * anything else, days that no calendar has included.
 */
export function parseDateTime(text: string): Date | null {
  const [, seconds] = FORM.exec(text) ?? [];
  const date = new Date(text);
  const time = date.getTime();
  if (seconds === undefined || !(time >= FIRST && time <= LAST)) return null;
  // The engine takes 30 February for 2 March; what does not come back as it was given is no date.
  return date.toISOString().startsWith(seconds) ? date : null;
}
