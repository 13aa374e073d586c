import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';

export const AUDIENCE = 'https://feed.example';
/** Providers let a host name its own claims by URLs alone. */
export const ROLES = 'https://feed.example/roles';
export const CLIENT_ID = 'console';

/** A provider of OpenID Connect that is not ours, which can be made to fail. */
export interface AccountProvider extends AsyncDisposable {
  readonly issuer: string;
  /** Takes sign-ins from then on. @param home where the console is */
  openFor(home: string): void;
  readonly provider: Provider;
  /** Roles by account; one that is missing has none. */
  readonly roles: Map<string, readonly string[]>;
  /** How long the next access tokens are good, in seconds. */
  tokenSeconds: number;
  /** Whom they are for. */
  audience: string;
  /** No account is known any more: nothing is exchanged for a token. */
  hasForgotten: boolean;
  /** Connections are closed without an answer. */
  isAway: boolean;
}

export async function startProvider(): Promise<AccountProvider> {
  let handle: (req: IncomingMessage, res: ServerResponse) => unknown = (_req, res) =>
    res.writeHead(503).end();
  let provider: Provider | undefined;
  const server = createServer((req, res) => {
    if (state.isAway) req.socket.destroy();
    else void handle(req, res);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const state: AccountProvider = {
    issuer,
    openFor(home) {
      provider = new Provider(issuer, configurationFor(home, state));
      handle = provider.callback();
    },
    get provider() {
      if (provider === undefined) throw new Error('It is open for nobody yet');
      return provider;
    },
    roles: new Map(),
    tokenSeconds: 3_600,
    audience: AUDIENCE,
    hasForgotten: false,
    isAway: false,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return state;
}

function configurationFor(home: string, state: AccountProvider): Configuration {
  return {
    clients: [
      {
        client_id: CLIENT_ID,
        token_endpoint_auth_method: 'none',
        redirect_uris: [home],
        post_logout_redirect_uris: [home],
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    clientBasedCORS: (_ctx, origin) => origin === new URL(home).origin,
    cookies: { keys: ['of the test'] },
    features: {
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: '',
          audience: state.audience,
          accessTokenFormat: 'jwt',
          accessTokenTTL: state.tokenSeconds,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    extraTokenClaims: (_ctx, token) => ({
      [ROLES]: 'accountId' in token ? (state.roles.get(token.accountId) ?? []) : [],
    }),
    findAccount: (_ctx, sub) =>
      state.hasForgotten ? undefined : { accountId: sub, claims: () => ({ sub }) },
    issueRefreshToken: () => true,
    ttl: { Grant: 86_400, IdToken: 3_600, Interaction: 3_600, RefreshToken: 86_400, Session: 86_400 },
  };
}
