import { apiClient, readServerUrl, type ApiClient } from './api-client.ts';
import type { CommandContext } from './context.ts';
import type { ActingOptions } from './acting.ts';
import { ownToken } from './token.ts';

export interface ConnectionOptions extends ActingOptions {
  readonly url: string;
  readonly token?: string | undefined;
}

/**
 * A client of a running server. Without a given token it signs one with the local key, which works if the server uses the
 * same JWT_SECRET or DATA_DIR.
 */
export async function connectToServer(
  context: CommandContext,
  options: ConnectionOptions,
): Promise<ApiClient> {
  const url = readServerUrl(options.url);
  const token = options.token ?? (await ownToken(context, 'import', options));
  const onRetry = (reason: string): void => {
    context.terminal.note(`${reason}. Trying again for half a minute.`);
  };
  return apiClient({ url, token, onRetry });
}
