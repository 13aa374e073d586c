import { destination, pino, stdTimeFunctions } from 'pino';
import { redact } from '../lib/redact.ts';
import { prettyLine } from './pretty-line.ts';

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

export interface LineSink {
  write(line: string): void;
}

export interface LoggerOptions {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  /** Human-readable lines instead of JSON. Default false. */
  readonly isPretty?: boolean;
  /** Receives complete lines. Default: stderr, since stdout is reserved for output of commands. */
  readonly sink?: LineSink;
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
