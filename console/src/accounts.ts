/** Sign-in by the host's accounts: OpenID Connect, code flow with PKCE. Loaded for who signs in so. */
import { createFanfareClient } from '@fanfare/react';
import { FeedClientError } from '@fanfare/client';
import * as oauth from 'oauth4webapi';
import { explain, Unusable } from './account-faults.ts';
export { explain } from './account-faults.ts';
import type { Accounts } from './host.ts';
import { ACCOUNT_KEY, outcome } from './outcome.ts';
import { KEY, signOut, type Account } from './session.ts';
import { hasOffer, signInBy } from './signing.ts';

/** What the way to the provider and back needs, in the tab's storage for so long. */
interface Begun {
  readonly verifier: string;
  readonly state: string;
  readonly nonce: string;
  /** The screen to come back to. */
  readonly hash: string;
  /** Nothing was to be asked. */
  readonly isSilent: boolean;
}

const BEGUN_KEY = 'fanfare:sign-in';
const TIMEOUT_MS = 15_000;
/** So long before its end a token is renewed. */
const EARLY_MS = 30_000;
/** A page that leaves does not wait long for a provider that is away. */
const GOODBYE_MS = 2_000;
/** Errors of a request that was not to ask anything: somebody has to be asked. */
const TO_BE_ASKED = new Set([
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
]);

const HERE = `${location.origin}/console`;

/** Goes to the provider. It comes back to the screen that is shown now. @throws Unusable, or what `explain` knows */
export async function begin(accounts: Accounts, isSilent = false): Promise<void> {
  const server = await discover(accounts);
  const url = endpoint(accounts, server, 'authorization_endpoint');
  if (url === null) throw new Unusable('The provider says of none of its pages that one signs in there.');
  const begun: Begun = {
    verifier: oauth.generateRandomCodeVerifier(),
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    ...{ hash: location.hash, isSilent },
  };
  const parameters = {
    ...accounts.request,
    ...{ client_id: accounts.clientId, redirect_uri: HERE, response_type: 'code' },
    ...{ state: begun.state, nonce: begun.nonce },
    code_challenge: await oauth.calculatePKCECodeChallenge(begun.verifier),
    code_challenge_method: 'S256',
    ...(isSilent ? { prompt: 'none' } : {}),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  sessionStorage.setItem(BEGUN_KEY, JSON.stringify(begun));
  location.assign(url);
}

/** Goes on after the way to the provider, or asks it again for who has loaded the page again. Never rejects. */
export async function resume(accounts: Accounts): Promise<void> {
  const answer = new URL(location.href);
  const begun = takeBegun();
  try {
    if (answer.searchParams.has('state')) {
      history.replaceState(history.state, '', `${location.pathname}${begun?.hash ?? ''}`);
      await finish(accounts, answer, begun);
    } else {
      await begin(accounts, true);
      await new Promise<never>(() => undefined);
    }
  } catch (error) {
    sessionStorage.removeItem(ACCOUNT_KEY);
    const isToBeAsked = error instanceof oauth.AuthorizationResponseError && TO_BE_ASKED.has(error.error);
    if (begun?.isSilent !== true || !isToBeAsked) outcome.fault = explain(error);
  }
}

function takeBegun(): Begun | null {
  const begun = sessionStorage.getItem(BEGUN_KEY);
  sessionStorage.removeItem(BEGUN_KEY);
  return begun === null ? null : (JSON.parse(begun) as Begun);
}

async function finish(accounts: Accounts, answer: URL, begun: Begun | null): Promise<void> {
  if (begun === null || answer.searchParams.get('state') !== begun.state)
    throw new Unusable('This answer belongs to no sign-in that was begun in this tab.');
  const server = await discover(accounts);
  const client = { client_id: accounts.clientId };
  const parameters = oauth.validateAuthResponse(server, client, answer, begun.state);
  endpoint(accounts, server, 'token_endpoint');
  const response = await oauth.authorizationCodeGrantRequest(
    ...([server, client, oauth.None(), parameters, HERE, begun.verifier] as const),
    { ...withResource(accounts), ...requestOptions(accounts) },
  );
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: begun.nonce,
    requireIdToken: true,
  });
  await refuseUnusable(accounts, tokens.access_token);
  sessionStorage.setItem(ACCOUNT_KEY, '');
  const account = accountOf(accounts, server, tokens);
  if (!signInBy(account, tokens.access_token)) outcome.unnamed = { account, token: tokens.access_token };
}

/** What everybody sets wrong first: the provider gives tokens that are not for this server. @throws Unusable */
async function refuseUnusable({ expected }: Accounts, token: string): Promise<void> {
  const client = createFanfareClient({ url: '/graphql', token });
  try {
    await client.request('{ __typename }');
  } catch (error) {
    // Whatever else is wrong the screens say.
    if (!(error instanceof FeedClientError) || error.code !== 'UNAUTHENTICATED') return;
    throw refusal(expected, token);
  } finally {
    client.close();
  }
}

function refusal({ issuer, audience }: Accounts['expected'], token: string): Unusable {
  const by = (details: readonly string[], hint: string): Unusable =>
    new Unusable('The server refuses the tokens of the provider.', details, hint);
  const claims = claimsOf(token);
  if (claims === null)
    return by(
      [],
      'Its access tokens are no JWTs. Name an audience or resource that it knows in CONSOLE_OIDC_REQUEST.',
    );
  const { iss, aud } = claims;
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  const found = [
    ...(issuer !== undefined && iss !== issuer ? [`iss: ${said(iss)}, JWT_ISSUER: "${issuer}"`] : []),
    ...(audience !== undefined && !audiences.includes(audience)
      ? [`aud: ${said(aud)}, JWT_AUDIENCE: "${audience}"`]
      : []),
  ];
  return by(
    found,
    found.length > 0
      ? 'They are for another server, or of another provider than it expects.'
      : 'Their issuer and audience are right. See whether JWKS_URI has the keys of this provider.',
  );
}

const said = (claim: unknown): string => (claim === undefined ? '–' : JSON.stringify(claim));

function claimsOf(token: string): Record<string, unknown> | null {
  try {
    const payload = token.split('.')[1] ?? '';
    return JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as Record<string, unknown>;
  } catch {
    return null;
  }
}

interface Held {
  readonly token: string;
  /** On the `performance.now()` clock. */
  readonly renewAt: number;
  readonly endsAt: number;
}

function held({ access_token: token, expires_in: seconds }: oauth.TokenEndpointResponse): Held {
  const lifeMs = (seconds ?? Infinity) * 1_000;
  const now = performance.now();
  return { token, endsAt: now + lifeMs, renewAt: now + lifeMs - Math.min(EARLY_MS, lifeMs / 10) };
}

function accountOf(
  accounts: Accounts,
  server: oauth.AuthorizationServer,
  tokens: oauth.TokenEndpointResponse,
): Account {
  let access = held(tokens);
  let { refresh_token: refreshToken, id_token: idToken } = tokens;
  let renewing: Promise<string> | null = null;
  const isUsable = (until: number, refused?: string): boolean =>
    refused !== access.token && performance.now() < until;
  const renew = async (refused?: string): Promise<string> => {
    try {
      if (refreshToken === undefined) throw new Unusable('The provider has given no token for renewals.');
      const next = await refresh(accounts, server, refreshToken);
      access = held(next);
      refreshToken = next.refresh_token ?? refreshToken;
      idToken = next.id_token ?? idToken;
      return access.token;
    } catch (error) {
      // It is tried early: while the provider is away the one at hand will do.
      if (isUsable(access.endsAt, refused)) return access.token;
      const isOver = error instanceof oauth.ResponseBodyError || error instanceof Unusable;
      throw isOver ? new FeedClientError('UNAUTHENTICATED', 'The sign-in has ended') : error;
    }
  };
  return {
    token: async (refused) => {
      if (isUsable(access.renewAt, refused)) return access.token;
      renewing ??= renew(refused).finally(() => (renewing = null));
      return renewing;
    },
    again: () => {
      begin(accounts).catch((error: unknown) => {
        outcome.fault = explain(error);
        signOut();
      });
    },
    leave: () => {
      sessionStorage.removeItem(ACCOUNT_KEY);
      // What says that somebody has signed out is of use where the server would sign in at once.
      if (!hasOffer()) sessionStorage.removeItem(KEY);
      // Nobody is signed in here any more, whatever the provider says to that.
      leave(accounts, server, { refreshToken, idToken }).catch(() => undefined);
    },
  };
}

async function refresh(
  accounts: Accounts,
  server: oauth.AuthorizationServer,
  token: string,
): Promise<oauth.TokenEndpointResponse> {
  const client = { client_id: accounts.clientId };
  const options = { ...withResource(accounts), ...requestOptions(accounts) };
  const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), token, options);
  return oauth.processRefreshTokenResponse(server, client, response);
}

interface Leaving {
  readonly refreshToken: string | undefined;
  readonly idToken: string | undefined;
}

/** Ends it at the provider too, as far as that is possible. */
async function leave(
  accounts: Accounts,
  server: oauth.AuthorizationServer,
  { refreshToken, idToken }: Leaving,
): Promise<void> {
  const client = { client_id: accounts.clientId };
  if (refreshToken !== undefined && server.revocation_endpoint !== undefined)
    // Here it is forgotten; there it ends with the session, or alone.
    await oauth
      .revocationRequest(
        ...([server, client, oauth.None(), refreshToken] as const),
        requestOptions(accounts, GOODBYE_MS),
      )
      .catch(() => undefined);
  const url = endpoint(accounts, server, 'end_session_endpoint');
  if (url === null) return;
  url.searchParams.set('client_id', accounts.clientId);
  url.searchParams.set('post_logout_redirect_uri', HERE);
  if (idToken !== undefined) url.searchParams.set('id_token_hint', idToken);
  location.assign(url);
}

async function discover(accounts: Accounts): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(accounts.issuer);
  const response = await oauth.discoveryRequest(issuer, requestOptions(accounts));
  return oauth.processDiscoveryResponse(issuer, response);
}

/** @throws Unusable for an address that may not be opened, or called, from here */
function endpoint(
  { issuer, origins }: Accounts,
  server: oauth.AuthorizationServer,
  name: 'authorization_endpoint' | 'token_endpoint' | 'end_session_endpoint',
): URL | null {
  const given = server[name];
  if (given === undefined) return null;
  const url = new URL(given);
  const { protocol } = new URL(issuer);
  if (url.protocol !== 'https:' && url.protocol !== protocol)
    throw new Unusable('An address of the provider is not encrypted.', [given]);
  if (name === 'token_endpoint' && !origins.includes(url.origin))
    throw new Unusable('The provider gives tokens where this page may not ask. Load the page again.', [
      given,
    ]);
  return url;
}

function withResource({ request: { resource } }: Accounts): {
  readonly additionalParameters?: Record<string, string>;
} {
  return resource === undefined ? {} : { additionalParameters: { resource } };
}

/** Without encryption for a provider on this machine alone: the server takes no other address. */
function requestOptions({ issuer }: Accounts, timeoutMs = TIMEOUT_MS) {
  return {
    // oxlint-disable-next-line typescript/no-deprecated -- named so that it is seen; this is the case it is for
    [oauth.allowInsecureRequests]: issuer.startsWith('http:'),
    signal: AbortSignal.timeout(timeoutMs),
  };
}
