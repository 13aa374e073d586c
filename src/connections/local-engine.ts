import type * as localEngine from '@fanfare/local-engine';

type LocalEngine = typeof localEngine;

/** No database address is configured, and the package that runs local databases is not installed. */
export class NoDatabasesError extends Error {
  override readonly name = 'NoDatabasesError';
}

/** Loads the package that runs local databases; production images omit it. @throws NoDatabasesError if not installed */
export async function loadLocalEngine(): Promise<LocalEngine> {
  try {
    return await import('@fanfare/local-engine');
  } catch (error) {
    if (!isNotInstalled(error)) throw error;
    throw new NoDatabasesError(
      'There are no databases to use: set MONGODB_URI and REDIS_URL, or run npm install @fanfare/local-engine for local ones.',
    );
  }
}

/** Compares by name: the class belongs to a package that may not be installed. */
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
