import { destination, pino, stdTimeFunctions } from 'pino';
import { redact } from '../lib/redact.ts';
import { prettyLine } from './pretty-line.ts';

export type LogFields = Readonly<Record<string, unknown>>;
export type LogMethod = (fields: LogFields, message: string) => void;

/** What rooms get to speak with. An error goes under `err`; secrets are taken out of every line. */
export interface Logger {
  readonly trace: LogMethod;
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
  readonly fatal: LogMethod;
  /** A logger whose lines all carry these fields. */
  child(fields: LogFields): Logger;
}

export interface LineSink {
  write(line: string): void;
}

export interface LoggerOptions {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  /** Lines for people instead of JSON. Default false. */
  readonly isPretty?: boolean;
  /** Where whole lines go. Default: stderr, so that stdout stays for what commands answer. */
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

/** Says nothing; for tests and for parts that are used without a server. */
export function silentLogger(): Logger {
  return createLogger({ level: 'silent' });
}
