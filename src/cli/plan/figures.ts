const NUMBER = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];

/** A number as people read it; what is small keeps its digits. */
export function amount(value: number): string {
  return Number.isFinite(value) ? NUMBER.format(value) : 'none';
}

export function bytesOf(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return `${amount(bytes / 1_000 ** power)} ${UNITS[power] ?? ''}`;
}

export function seconds(value: number): string {
  return value < 1 ? `${amount(value * 1_000)} ms` : `${amount(value)} s`;
}
