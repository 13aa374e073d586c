import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';

export const AUDIENCE = 'https://feed.example';
/** Path of the claim. */
export const ROLES = 'realm_access.roles';
export const CLIENT_ID = 'console';

/** A provider of OpenID Connect that is not ours, which can be made to fail. */
export interface AccountProvider extends AsyncDisposable {
  readonly issuer: string;
  /** Where it gives tokens and takes them back: another origin. */
  readonly tokens: string;
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
  const answer = (req: IncomingMessage, res: ServerResponse): void => {
    if (state.isAway) req.socket.destroy();
    else if (req.url !== DISCOVERY || req.headers['from'] === OWN || provider === undefined)
      void handle(req, res);
    else
      void discovered(issuer, tokens).then((document) =>
        res
          .writeHead(200, { 'content-type': 'application/json', 'access-control-allow-origin': '*' })
          .end(document),
      );
  };
  const [server, other] = [createServer(answer), createServer(answer)];
  const urlOf = async (of: typeof server): Promise<string> => {
    of.listen(0, '127.0.0.1');
    await once(of, 'listening');
    return `http://127.0.0.1:${String((of.address() as AddressInfo).port)}`;
  };
  const [issuer, tokens] = [await urlOf(server), await urlOf(other)];
  const state: AccountProvider = {
    ...{ issuer, tokens },
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
      for (const one of [server, other]) {
        one.close();
        one.closeAllConnections();
        await once(one, 'close');
      }
    },
  };
  return state;
}

const DISCOVERY = '/.well-known/openid-configuration';
const OWN = 'itself';

/** What it says of itself, but for where it gives tokens and takes them back. */
async function discovered(issuer: string, tokens: string): Promise<string> {
  const response = await fetch(`${issuer}${DISCOVERY}`, { headers: { from: OWN } });
  const document = (await response.json()) as Record<string, string>;
  for (const name of ['token_endpoint', 'revocation_endpoint'])
    document[name] = document[name]?.replace(issuer, tokens) ?? '';
  return JSON.stringify(document);
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
      realm_access: { roles: 'accountId' in token ? (state.roles.get(token.accountId) ?? []) : [] },
    }),
    findAccount: (_ctx, sub) =>
      state.hasForgotten ? undefined : { accountId: sub, claims: () => ({ sub }) },
    issueRefreshToken: () => true,
    ttl: { Grant: 86_400, IdToken: 3_600, Interaction: 3_600, RefreshToken: 86_400, Session: 86_400 },
  };
}
