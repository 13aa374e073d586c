import { randomBytes } from 'node:crypto';
import { link } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { hasCode, makeFolder, NewFile, readOwnFile } from '../lib/own-file.ts';

const FILE_NAME = 'jwt-secret';
const SECRET_BYTES = 32;

export interface SecretSource {
  readonly config: Config;
  /** File of the generated secret; `null` when the environment provides a key. */
  readonly keptIn: string | null;
}

/**
 * The configuration with a token key. If the environment provides none (which production does not allow), a key is generated
 * once and stored in the data folder, so that tokens survive restarts.
 */
export async function withSecret(config: Config): Promise<SecretSource> {
  if (config.auth.jwtSecret !== undefined || config.auth.jwksUri !== undefined)
    return { config, keptIn: null };
  const keptIn = keptSecretPath(config.dataDir);
  const jwtSecret = (await keptSecret(config.dataDir)) ?? (await makeSecret(config.dataDir, keptIn));
  return { config: Object.freeze({ ...config, auth: Object.freeze({ ...config.auth, jwtSecret }) }), keptIn };
}

export function keptSecretPath(dataDir: string): string {
  return join(dataDir, FILE_NAME);
}

export function keptSecret(dataDir: string): Promise<string | null> {
  return readSecret(keptSecretPath(dataDir));
}

/** Creating a link is atomic: if two processes start together, both read the winner's secret. */
async function makeSecret(dataDir: string, path: string): Promise<string> {
  await makeFolder(dataDir);
  const file = new NewFile(path);
  try {
    await file.write(randomBytes(SECRET_BYTES).toString('base64url'));
    await link(file.draft, path).catch(ignoreExisting);
  } finally {
    await file.discard();
  }
  const secret = await readSecret(path);
  if (secret === null) throw new Error(`The secret ${path} was removed while it was being made`);
  return secret;
}

async function readSecret(path: string): Promise<string | null> {
  const text = (await readOwnFile(path))?.trim();
  if (text === undefined) return null;
  if (Buffer.byteLength(text) < SECRET_BYTES)
    throw new Error(
      `The secret in ${path} is shorter than ${String(SECRET_BYTES)} bytes: remove the file to get a new one`,
    );
  return text;
}

function ignoreExisting(error: unknown): void {
  if (!hasCode(error, 'EEXIST')) throw error;
}
