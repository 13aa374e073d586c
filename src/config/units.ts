const DURATION_UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const SIZE_UNITS: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1_000,
  mb: 1_000_000,
  gb: 1_000_000_000,
  kib: 1_024,
  mib: 1_048_576,
  gib: 1_073_741_824,
};

/** Parses a duration such as `500ms`, `30s`, `1.5h` or `7d` into milliseconds; `null` if invalid. The unit is required. */
export function parseDuration(text: string): number | null {
  return parseQuantity(text, DURATION_UNITS);
}

/** Parses a size such as `512KiB` or `1MiB`, case-insensitively, into bytes; `null` if invalid. The unit is required. */
export function parseSize(text: string): number | null {
  return parseQuantity(text.toLowerCase(), SIZE_UNITS);
}

function parseQuantity(text: string, units: Readonly<Record<string, number>>): number | null {
  const match = /^(\d+(?:\.\d+)?) ?([a-z]+)$/.exec(text);
  const factor = units[match?.[2] ?? ''];
  if (match === null || factor === undefined) return null;
  const amount = Math.round(Number(match[1]) * factor);
  return Number.isSafeInteger(amount) ? amount : null;
}
