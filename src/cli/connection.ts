import { ROLES } from '../domain/viewer.ts';
import { apiClient, readServerUrl, type ApiClient } from './api-client.ts';
import { configOf } from './config-of.ts';
import { CommandError, type CommandContext } from './context.ts';
import { keptSecret } from './kept-secret.ts';
import { signToken } from './sign-token.ts';

export interface ConnectionOptions {
  readonly url: string;
  readonly token?: string | undefined;
}

const TOKEN_MS = 12 * 3_600_000;

/**
 * A client of a running server. Without a token it signs one with the key at hand, which works where the server runs
 * with the same JWT_SECRET or DATA_DIR.
 */
export async function connectToServer(
  context: CommandContext,
  options: ConnectionOptions,
): Promise<ApiClient> {
  const url = readServerUrl(options.url);
  return apiClient({ url, token: options.token ?? (await ownToken(context, 'import')) });
}

/** A token with all roles, signed with the key at hand. */
export async function ownToken(context: CommandContext, sub: string): Promise<string> {
  const { auth, dataDir } = configOf(context, { needsKey: false });
  const jwtSecret = auth.jwtSecret ?? (await keptSecret(dataDir));
  if (jwtSecret === null)
    throw new CommandError(
      `--token is missing: there is no JWT_SECRET and no secret kept in ${dataDir} to sign one`,
    );
  return signToken({ ...auth, jwtSecret }, { sub, roles: ROLES, expiresAt: new Date(Date.now() + TOKEN_MS) });
}
