import { destination, pino, stdTimeFunctions } from 'pino';
import { redact, visible } from '../lib/redact.ts';

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
function prettyLine(line: string): string {
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

export type LogFields = Readonly<Record<string, unknown>>;
export type LogMethod = (fields: LogFields, message: string) => void;

/** Logger used throughout. Errors go under `err`; secrets are removed from every line. */
export interface Logger {
  readonly trace: LogMethod;
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
  readonly fatal: LogMethod;
  /** A logger that adds these fields to every line. */
  child(fields: LogFields): Logger;
}

export interface LoggerOptions {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  /** Human-readable lines instead of JSON. Default false. */
  readonly isPretty?: boolean;
  /** Receives complete lines. Default: stderr, since stdout is reserved for output of commands. */
  readonly sink?: { write(line: string): void };
}

export function createLogger(options: LoggerOptions): Logger {
  const sink = options.sink ?? destination({ fd: 2, sync: true });
  const format = options.isPretty === true ? prettyLine : (line: string) => line;
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => sink.write(format(redact(line))) },
  );
}

/** Discards everything; for tests and for use without a server. */
export function silentLogger(): Logger {
  return createLogger({ level: 'silent' });
}
