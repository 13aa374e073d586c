import type * as localEngine from '@fanfare/local-engine';
import { CommandError } from './context.ts';

type LocalEngine = typeof localEngine;

/** The package that runs local databases. Production images leave it out. @throws CommandError where it is not installed */
export async function loadLocalEngine(): Promise<LocalEngine> {
  try {
    return await import('@fanfare/local-engine');
  } catch (error) {
    if (!isNotInstalled(error)) throw error;
    throw new CommandError(
      'There are no databases to use: set MONGODB_URI and REDIS_URL, or run npm install @fanfare/local-engine for local ones.',
    );
  }
}

/** By its name: the class is in a package that may not be installed. */
export function isLocalEngineError(error: unknown): error is localEngine.EmbeddedError {
  return error instanceof Error && error.name === 'EmbeddedError';
}

function isNotInstalled(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === 'ERR_MODULE_NOT_FOUND' &&
    error.message.includes("'@fanfare/local-engine'")
  );
}
