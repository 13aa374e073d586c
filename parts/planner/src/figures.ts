const NUMBER = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];

/** A human-readable number; small numbers keep their digits. */
export function amount(value: number): string {
  return Number.isFinite(value) ? NUMBER.format(value) : 'none';
}

/** With its noun in singular or plural. */
export function counted(count: number, noun: string): string {
  return `${amount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

const ONE_DIGIT = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** Busy cores, rounded to a tenth, the accuracy of the costs. */
export function coresText(cores: number): string {
  return ONE_DIGIT.format(cores);
}

export function bytesOf(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return `${amount(bytes / 1_000 ** power)} ${UNITS[power] ?? ''}`;
}

export function seconds(value: number): string {
  return value < 1 ? `${amount(value * 1_000)} ms` : `${amount(value)} s`;
}
