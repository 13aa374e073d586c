import { ROLES } from '../domain/viewer.ts';
import { apiClient, readServerUrl, type ApiClient } from './api-client.ts';
import { configOf, CommandError, type CommandContext } from './context.ts';
import { keptSecret } from './kept-secret.ts';
import { signToken } from './sign-token.ts';
import { tenantFor } from './tenants.ts';

export interface ConnectionOptions {
  readonly url: string;
  readonly token?: string | undefined;
  /** Tenant of the token that is signed here. */
  readonly tenant?: string | undefined;
}

const TOKEN_MS = 12 * 3_600_000;

/**
 * A client of a running server. Without a given token it signs one with the local key, which works if the server uses the
 * same JWT_SECRET or DATA_DIR.
 */
export async function connectToServer(
  context: CommandContext,
  options: ConnectionOptions,
): Promise<ApiClient> {
  const url = readServerUrl(options.url);
  const token = options.token ?? (await ownToken(context, 'import', options.tenant));
  const onRetry = (reason: string): void => {
    context.terminal.note(`${reason}. Trying again for half a minute.`);
  };
  return apiClient({ url, token, onRetry });
}

/** A token with all roles, signed with the local key. */
export async function ownToken(context: CommandContext, sub: string, givenTenant?: string): Promise<string> {
  const { auth, dataDir } = configOf(context, { needsKey: false });
  const tenant = tenantFor({ auth }, givenTenant);
  const jwtSecret = auth.jwtSecret ?? (await keptSecret(dataDir));
  if (jwtSecret === null)
    throw new CommandError(
      `--token is missing: there is no JWT_SECRET and no secret in ${dataDir} to sign one`,
    );
  const expiresAt = new Date(Date.now() + TOKEN_MS);
  return signToken({ ...auth, jwtSecret }, { sub, roles: ROLES, tenant, expiresAt });
}
