import { visible } from '../lib/visible.ts';

const COLORS: Readonly<Record<string, string>> = {
  trace: '\u001b[2m',
  debug: '\u001b[2m',
  info: '\u001b[32m',
  warn: '\u001b[33m',
  error: '\u001b[31m',
  fatal: '\u001b[31;1m',
};
const DIM = '\u001b[2m';
const RESET = '\u001b[0m';

/** Formats a JSON log line for people: time, level, message and fields, with an error's stack below. */
export function prettyLine(line: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const name = String(level);
  const head = `${DIM}${String(time).slice(11, 23)}${RESET} ${COLORS[name] ?? ''}${name.padEnd(5)}${RESET} ${visible(String(msg))}`;
  const rest = Object.entries(fields).map(([key, value]) => `${DIM}${key}=${RESET}${shown(value)}`);
  return `${[head, ...rest].join(' ')}${errorLines(err)}\n`;
}

function shown(value: unknown): string {
  return visible(typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value));
}

function errorLines(err: unknown): string {
  if (err === undefined) return '';
  if (typeof err === 'object' && err !== null && 'stack' in err && typeof err.stack === 'string')
    return `\n  ${visible(err.stack).replaceAll('\n', '\n  ')}`;
  return `\n  ${visible(JSON.stringify(err))}`;
}
