import type { CommandContext } from '../app/command-shapes.ts';
import { CommanderError } from 'commander';
import { ConfigError } from '../config/config.ts';
import { ownCommand } from '../lib/package-info.ts';
import { redact, visible } from '../lib/redact.ts';
import { CommandError } from './context.ts';
import { isLocalEngineError, NoDatabasesError } from '../connections/local-engine.ts';

/** Prints why a command failed. @returns the exit code. */
export function reportFailure(
  { env, terminal }: Pick<CommandContext, 'env' | 'terminal'>,
  error: unknown,
): number {
  // Already explained.
  if (error instanceof CommanderError) return error.exitCode;
  const isDebugging = env['LOG_LEVEL'] === 'debug' || env['LOG_LEVEL'] === 'trace';
  // It may quote what a server or a file said.
  terminal.note(visible(redact(isDebugging && error instanceof Error ? stacks(error) : reasonFor(error))));
  return 1;
}

/** Errors thrown by a host's file are causes: only their own stack shows where. */
function stacks(error: Error): string {
  const own = error.stack ?? error.message;
  return error.cause instanceof Error ? `${own}\nCaused by: ${stacks(error.cause)}` : own;
}

/** An error's message, its causes, and what to do about it where known. */
export function reasonFor(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return [...messages(error), ...hints(error)].join('\n');
}

function messages(error: Error): string[] {
  const own =
    isExplained(error) || NAMELESS.has(error.name) ? error.message : `${error.name}: ${error.message}`;
  return error.cause instanceof Error && !isExplained(error) ? [own, ...messages(error.cause)] : [own];
}

/** Their message says everything without the name, and their cause may say more. By name, like below. */
const NAMELESS: ReadonlySet<string> = new Set([
  'Error',
  'ApiError',
  'FanfareError',
  'SchemaTooNew',
  'TenancyDiffers',
  'UnsupportedServer',
]);

/** Errors whose message is written for the user. */
function isExplained(error: Error): boolean {
  return (
    error instanceof ConfigError ||
    isHostConfigError(error) ||
    error instanceof CommandError ||
    error instanceof NoDatabasesError ||
    isLocalEngineError(error)
  );
}

/** Compares by name, to avoid importing the module for most commands. */
function isHostConfigError({ name }: Error): boolean {
  return name === 'HostConfigError';
}

function hints(error: Error): string[] {
  if (error instanceof ConfigError) return [`All variables: ${ownCommand()} doctor --settings`];
  if (isLocalEngineError(error))
    return error.code === 'DATA_DIR_BUSY'
      ? [
          'It did not publish the addresses of its databases. Stop it, or choose another folder with DATA_DIR.',
        ]
      : [];
  if (isHostConfigError(error))
    return ['What can be declared: docs/descriptors.md in the package @fanfare/server'];
  if (isExplained(error)) return [];
  if ('code' in error && error.code === 'EADDRINUSE')
    return ['Another program uses this port: choose another PORT, or PORT=0 for a free one.'];
  return error.name === 'MongoServerSelectionError'
    ? ['Check MONGODB_URI and whether the database is running.']
    : [];
}
