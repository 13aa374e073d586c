import { weightOfEntry } from '../../lib/weight.ts';
import {
  errors,
  jwtVerify,
  type JWTPayload,
  type JWTVerifyOptions,
  createLocalJWKSet,
  importJWK,
  type JWK,
  type JWTVerifyGetKey,
} from 'jose';
import { LRUCache } from 'lru-cache';
import type { UserId } from '../../domain/action.ts';
import type { Locale } from '../../descriptors/locale.ts';
import { FanfareError } from '../../domain/errors.ts';
import { isTenantName, storedId, TENANT_FORM, type Tenant, tenantOf } from '../../domain/stored-id.ts';
import { hasControl, isVisible } from '../../domain/text-forms.ts';
import { OPERATOR, ROLES, type Identity, type Role, isTrusted } from '../../domain/viewer.ts';
import { logKeysBroken, logKeysNotFetched } from '../../telemetry/events.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { networkOf } from './addresses.ts';
import type { ConnectionEnds } from './own-visitor.ts';

interface KeySetOptions {
  readonly uri: string;
  /** How long a removed key may remain valid, in milliseconds. Default 5 minutes. */
  readonly maxAgeMs?: number | undefined;
  /** How long known keys remain valid while the set cannot be fetched, in milliseconds. Default 24 hours. */
  readonly maxStaleMs?: number | undefined;
  /** The set could not be fetched; it will be retried. */
  readonly onFetchFailed?: (error: unknown) => void;
  /** These keys of a newly fetched set are unusable. */
  readonly onBrokenKeys?: (keyIds: readonly string[]) => void;
}

interface Keys {
  readonly find: JWTVerifyGetKey;
  readonly brokenIds: ReadonlySet<string>;
  /** Equal for equal sets. */
  readonly content: string;
  readonly fetchedAt: number;
}

const DEFAULT_MAX_AGE_MS = 300_000;
const DEFAULT_MAX_STALE_MS = 86_400_000;
const FETCH_TIMEOUT_MS = 5_000;
/** A set has a few thousand. */
const MAX_ANSWER_BYTES = 1_048_576;
/** Upper bound on the pause between attempts, and between fetches for an unknown key, in milliseconds. */
const MAX_PAUSE_MS = 10_000;
const MIN_RSA_BITS = 2_048;

/**
 * Public keys behind a JWKS URI, refetched before they are too old. While that fails, known keys stay in use, within a
 * limit. An unusable key is skipped and does not affect the others.
 */
class KeySet {
  readonly #options: KeySetOptions;
  readonly #maxAgeMs: number;
  readonly #boundMs: number;
  readonly #pauseMs: number;
  #keys: Keys | null = null;
  #failedAt = -Infinity;
  #fetching: Promise<Keys> | null = null;
  #version = 0;

  constructor(options: KeySetOptions) {
    this.#options = options;
    this.#maxAgeMs = options.maxAgeMs ?? DEFAULT_MAX_AGE_MS;
    this.#boundMs = Math.max(this.#maxAgeMs, options.maxStaleMs ?? DEFAULT_MAX_STALE_MS);
    this.#pauseMs = Math.min(MAX_PAUSE_MS, this.#maxAgeMs);
  }

  /** Changes with the keys: tokens verified with an earlier version must be verified again. */
  get version(): number {
    return this.#version;
  }

  /**
   * Ensures that the keys are as fresh as promised. `null` when they already are.
   * Rejects with UNAVAILABLE when there are none, or none fresh enough.
   */
  renew(): Promise<void> | null {
    const keys = this.#keys;
    const now = performance.now();
    const age = keys === null ? Infinity : now - keys.fetchedAt;
    if (age < this.#maxAgeMs / 2) return null;
    const failedAgo = now - this.#failedAt;
    const mayFetch = failedAgo >= this.#pauseMs;
    if (age < this.#boundMs) {
      if (!mayFetch) return null;
      const fetched = this.#fetch().then(ignore, ignore);
      // After a recent failure, nobody waits for the next one: a hanging issuer would slow down everybody.
      return age < this.#maxAgeMs || failedAgo < this.#maxAgeMs ? null : fetched;
    }
    if (!mayFetch && this.#fetching === null) return Promise.reject(unavailable());
    return this.#fetch().then(ignore);
  }

  readonly find: JWTVerifyGetKey = async (header, token) => {
    const keys = this.#keys ?? (await this.#fetch());
    try {
      return await keys.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      const now = performance.now();
      if (now - keys.fetchedAt < this.#pauseMs) throw this.#refusal(keys, header.kid, error);
      if (now - this.#failedAt < this.#pauseMs) throw unavailable(error);
    }
    // The key may be new.
    const fresh = await this.#fetch();
    try {
      return await fresh.find(header, token);
    } catch (error) {
      throw this.#refusal(fresh, header.kid, error);
    }
  };

  #refusal(keys: Keys, keyId: string | undefined, error: unknown): unknown {
    const isBroken = error instanceof errors.JWKSNoMatchingKey && keys.brokenIds.has(keyId ?? '');
    return isBroken ? unavailable(error) : error;
  }

  #fetch(): Promise<Keys> {
    return (this.#fetching ??= this.#load().finally(() => {
      this.#fetching = null;
    }));
  }

  async #load(): Promise<Keys> {
    let keys: Keys;
    try {
      keys = await this.#read();
    } catch (error) {
      this.#failedAt = performance.now();
      this.#options.onFetchFailed?.(error);
      throw unavailable(error);
    }
    this.#failedAt = -Infinity;
    if (keys.content !== this.#keys?.content) {
      this.#version += 1;
      if (keys.brokenIds.size > 0) this.#options.onBrokenKeys?.([...keys.brokenIds]);
    }
    this.#keys = keys;
    return keys;
  }

  async #read(): Promise<Keys> {
    // Taken before the request, since the answer may reflect the state at its start.
    const fetchedAt = performance.now();
    const response = await fetch(this.#options.uri, {
      headers: { accept: 'application/json, application/jwk-set+json' },
      redirect: 'manual',
      signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`The key server answered ${String(response.status)}`);
    }
    const content = await textOf(response);
    const { keys: members } = JSON.parse(content) as { keys?: unknown };
    if (!Array.isArray(members)) throw new Error('The key set has no "keys" list');
    const usable: JWK[] = [];
    const brokenIds = new Set<string>();
    for (const member of members as unknown[]) {
      const state = await judge(member);
      if (state === 'usable') usable.push(member as JWK);
      else if (state === 'broken') brokenIds.add(idOf(member));
    }
    return { find: createLocalJWKSet({ keys: usable }), brokenIds, content, fetchedAt };
  }
}

/** @throws when it is longer than any set of keys */
async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop cancels the rest.
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES)
      throw new Error(`The key server's answer is longer than ${String(MAX_ANSWER_BYTES)} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function ignore(): void {
  // Callers that need the result check the keys.
}

function unavailable(cause?: unknown): FanfareError {
  return new FanfareError('UNAVAILABLE', 'Tokens cannot be verified at the moment', { cause });
}

function idOf(member: unknown): string {
  const id = (member as { readonly kid?: unknown } | null)?.kid;
  return typeof id === 'string' ? id : '(without kid)';
}

/** Keys for other uses than signatures are ignored, not reported. */
async function judge(member: unknown): Promise<'usable' | 'broken' | 'foreign'> {
  if (typeof member !== 'object' || member === null) return 'broken';
  const jwk = member as JWK;
  const algorithm = algorithmOf(jwk);
  if (algorithm === null) return 'foreign';
  try {
    const key = await importJWK({ ...jwk, ext: true }, algorithm);
    if (key instanceof Uint8Array || key.type !== 'public') return 'broken';
    const { modulusLength } = key.algorithm as { readonly modulusLength?: number };
    return modulusLength !== undefined && modulusLength < MIN_RSA_BITS ? 'broken' : 'usable';
  } catch {
    return 'broken';
  }
}

const CURVE_ALGORITHMS: ReadonlyMap<unknown, string> = new Map([
  ['P-256', 'ES256'],
  ['P-384', 'ES384'],
  ['Ed25519', 'EdDSA'],
]);

/** An algorithm to import the key with; `null`: not a kind of key that tokens are signed with. */
function algorithmOf({ kty, use, crv, alg }: JWK): string | null {
  if (use !== undefined && use !== 'sig') return null;
  if (kty === 'RSA') return alg ?? 'RS256';
  if (kty === 'EC' || kty === 'OKP') return CURVE_ALGORITHMS.get(crv) ?? (crv === undefined ? 'ES256' : null);
  return kty === 'oct' || kty === 'AKP' ? null : 'RS256';
}

interface KeySource {
  readonly jwksUri: string;
  /** See JWKS_MAX_AGE; in milliseconds. Default 5 minutes. */
  readonly maxAgeMs?: number;
  /** See JWKS_MAX_STALE; in milliseconds. Default 24 hours. */
  readonly maxStaleMs?: number;
}

export type AuthOptions = ({ readonly secret: string } | KeySource) & {
  /** Required `iss` claim; absent: not checked. */
  readonly issuer?: string | undefined;
  /** Required `aud` claim; absent: not checked. */
  readonly audience?: string | undefined;
  /** Name of the tenant claim; absent: tenants are off. */
  readonly tenantClaim?: string | undefined;
  /** Name of the claim with the roles, or path to it. Default `roles`. */
  readonly rolesClaim?: string | undefined;
};

/**
 * Determines the owner of a credential, for HTTP, SSE and WebSocket alike. `null` without a credential. Rejects with
 * UNAUTHENTICATED for an invalid one, with UNAVAILABLE when the keys cannot be fetched.
 * @param authorization value of an `authorization` header or connection parameter
 * @param header the value of another such header, or parameter
 */
export type Authenticate = (authorization: string | undefined, header?: Header) => Promise<Identity | null>;

export type Header = (name: string) => string | undefined;

/** Header and connection parameter with which an operator names a tenant. */
export const TENANT_HEADER = 'fanfare-tenant';
/** Header, and field of the acknowledgement of a socket, that names the reader. */
export const READER_HEADER = 'fanfare-reader';
/** Header, and field of the acknowledgement of a socket, that names the language of the sentences. */
const LANGUAGE_HEADER = 'content-language';

const MAX_TOKEN_LENGTH = 8_192;
/** Some 30,000 tokens of the usual length: those of the many sockets of a process that come back at once. */
const MAX_CACHED_BYTES = 32 * 1024 * 1024;
/** How long a verified token is cached, in milliseconds. */
const MAX_CACHED_MS = 60_000;
const MAX_SUBJECT_LENGTH = 256;
/** The latest time a Date can represent. */
const LAST_TIME = 8.64e15;
/** Algorithms are tied to the kind of key: a public key must never be used as a shared secret. */
const SECRET_ALGORITHMS = ['HS256'];
const PUBLIC_KEY_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519'];

export function createAuthenticator(options: AuthOptions, logger: Logger): Authenticate {
  const verifier = createVerifier(options, logger);
  const cache = new LRUCache<string, Identity>({ maxSize: MAX_CACHED_BYTES, sizeCalculation: weightOfEntry });
  const { tenantClaim, rolesClaim = 'roles' } = options;
  let version = verifier.version();

  return async function authenticate(authorization, header) {
    const tenant = header?.(TENANT_HEADER);
    if (authorization === undefined) return null;
    const [, token] = /^Bearer +([\w.~+/-]+=*) *$/i.exec(authorization) ?? [];
    if (token === undefined) throw unauthenticated('The authorization is not of the form "Bearer <token>"');
    if (token.length > MAX_TOKEN_LENGTH) throw unauthenticated('The token is too long');
    const renewal = verifier.renew();
    if (renewal !== null) await renewal;
    if (version !== verifier.version()) {
      version = verifier.version();
      cache.clear();
    }
    // Neither a token nor a header can contain a line break.
    const key = tenantClaim === undefined || tenant === undefined ? token : `${token}\n${tenant}`;
    const cached = cache.get(key);
    if (cached !== undefined && !isExpired(cached)) return cached;
    // The last digit of a signature has bits that mean nothing. With one spelling a token has one place in the cache.
    if (!isCanonical(token)) throw unauthenticated('The token is invalid');
    const verifiedBy = version;
    const claims = await verifier.verify(token);
    const roles = rolesGiven(claimIn(claims, rolesClaim));
    const idOf = (sub: string): UserId =>
      tenantClaim === undefined ? sub : storedId(tenantFor(claims, roles, tenantClaim, tenant), sub);
    const identity = toIdentity(claims, roles, idOf);
    if (verifiedBy === verifier.version())
      cache.set(key, identity, { ttl: Math.min(MAX_CACHED_MS, Math.max(1, remainingMs(identity))) });
    return identity;
  };
}

/** Three parts of base64url as RFC 7515 writes it: no padding, no other alphabet, nothing in the bits that are left over. */
function isCanonical(token: string): boolean {
  const parts = token.split('.');
  return (
    parts.length === 3 && parts.every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)
  );
}

export function remainingMs({ expiresAt }: Identity): number {
  return expiresAt === null ? Infinity : expiresAt.getTime() - Date.now();
}

function isExpired(identity: Identity): boolean {
  return remainingMs(identity) <= 0;
}

export function unauthenticated(message: string, cause?: unknown): FanfareError {
  return new FanfareError('UNAUTHENTICATED', message, { cause });
}

interface Verifier {
  /** Changes when tokens that were valid may not be any more. */
  version(): number;
  /** `null`: nothing to wait for. */
  renew(): Promise<void> | null;
  verify(token: string): Promise<JWTPayload>;
}

function createVerifier(options: AuthOptions, logger: Logger): Verifier {
  const { issuer, audience } = options;
  const checks = {
    requiredClaims: ['exp', 'sub'],
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience }),
  };
  if ('secret' in options) {
    const secret = new TextEncoder().encode(options.secret);
    return {
      version: () => 0,
      renew: () => null,
      verify: async (token) => {
        try {
          return (await jwtVerify(token, secret, { ...checks, algorithms: SECRET_ALGORITHMS })).payload;
        } catch (error) {
          throw refusal(error);
        }
      },
    };
  }
  const keys = new KeySet({
    uri: options.jwksUri,
    maxAgeMs: options.maxAgeMs,
    maxStaleMs: options.maxStaleMs,
    onFetchFailed: (err) => {
      logKeysNotFetched(logger, { err });
    },
    onBrokenKeys: (keyIds) => {
      logKeysBroken(logger, { keyIds });
    },
  });
  return {
    version: () => keys.version,
    renew: () => keys.renew(),
    verify: async (token) => {
      try {
        return await verifyByAny(token, keys, { ...checks, algorithms: PUBLIC_KEY_ALGORITHMS });
      } catch (error) {
        throw refusal(error);
      }
    },
  };
}

/** A token that names no key is verified with every suitable key. */
async function verifyByAny(token: string, keys: KeySet, checks: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, keys.find, checks)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, checks)).payload;
      } catch (mismatch) {
        if (!(mismatch instanceof errors.JWSSignatureVerificationFailed)) throw mismatch;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

/** Meaning of a failed verification: usually an invalid token, unless the keys are unavailable. */
function refusal(error: unknown): FanfareError {
  if (error instanceof FanfareError) return error;
  if (error instanceof errors.JWTExpired) return unauthenticated('The token has expired', error);
  const isKeyTrouble =
    !(error instanceof errors.JOSEError) ||
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid ||
    error.code === 'ERR_JOSE_GENERIC';
  if (isKeyTrouble)
    return new FanfareError('UNAVAILABLE', 'Tokens cannot be verified at the moment', { cause: error });
  return unauthenticated('The token is invalid', error);
}

function toIdentity(
  { sub, exp }: JWTPayload,
  roles: readonly unknown[],
  idOf: (sub: string) => UserId,
): Identity {
  if (typeof sub !== 'string' || !isUsableSubject(sub))
    throw unauthenticated('The token has no valid subject (sub)');
  if (exp === undefined) throw unauthenticated('The token has no expiry (exp)');
  return {
    userId: idOf(sub),
    roles: rolesOf(roles),
    expiresAt: new Date(Math.min(exp * 1_000, LAST_TIME)),
  };
}

/**
 * The tenant in which a token's bearer acts: the token's own or, for operators, the one they name.
 * @throws FanfareError UNAUTHENTICATED if the token has none, FORBIDDEN if the bearer may not name one
 */
function tenantFor(
  claims: JWTPayload,
  roles: readonly unknown[],
  claim: string,
  named: string | undefined,
): Tenant {
  if (roles.includes(OPERATOR)) {
    if (isTenantName(named)) return named;
    throw new FanfareError('FORBIDDEN', `An operator names a tenant by ${TENANT_HEADER}: ${TENANT_FORM}`);
  }
  const own = claims[claim];
  if (!isTenantName(own)) throw unauthenticated('The token has no valid tenant');
  if (named === undefined || named === own) return own;
  throw new FanfareError('FORBIDDEN', 'To act in another tenant requires the role operator');
}

function isUsableSubject(sub: string): boolean {
  return sub.length <= MAX_SUBJECT_LENGTH && sub.isWellFormed() && !hasControl(sub) && isVisible(sub);
}

/** One shared set per combination of roles: every cached token and every socket refers to one. */
const ROLE_SETS = new Map<string, ReadonlySet<Role>>();

/** Unknown roles are ignored. */
function rolesOf(given: readonly unknown[]): ReadonlySet<Role> {
  const known = ROLES.filter((role) => given.includes(role));
  const roles: readonly Role[] = known.length > 0 ? known : ['user'];
  const name = roles.join(' ');
  const shared = ROLE_SETS.get(name) ?? new Set(roles);
  ROLE_SETS.set(name, shared);
  return shared;
}

/** By its name or, if there is none, by a path: in `a.b`, `b` within `a`. */
export function claimIn(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  return name
    .split('.')
    .reduce<unknown>(
      (within, part) =>
        typeof within === 'object' && within !== null && Object.hasOwn(within, part)
          ? (within as Readonly<Record<string, unknown>>)[part]
          : undefined,
      claims,
    );
}

function rolesGiven(claim: unknown): readonly unknown[] {
  return Array.isArray(claim) ? claim : [];
}

/** The caller for whom requests and connections are counted. */
export interface Counted {
  /** `null`: there was no token. */
  readonly identity: Identity | null;
  readonly address: string;
}

export interface Caller extends Counted {
  /** Both ends of the connection of a request over HTTP. */
  readonly connection?: ConnectionEnds;
  /** The caller used a ticket, which opens event streams only. */
  readonly byTicket?: boolean;
  readonly transport: 'http' | 'websocket';
}

/** Key under which a caller's requests are counted. */
export function rateLimitKey({ identity, address }: Counted): string {
  return identity === null ? `address:${networkOf(address)}` : `user:${identity.userId}`;
}

/** Key under which a caller gets a share of what is limited in total; `null`: a service or an admin, who may use all. */
export function holderOf(caller: Counted): string | null {
  return caller.identity !== null && isTrusted(caller.identity) ? null : rateLimitKey(caller);
}

/** Key under which all requests of a tenant are counted; `null`: none. */
export function tenantKey({ identity }: Counted): string | null {
  const tenant = identity === null ? null : tenantOf(identity.userId);
  return tenant === null ? null : `tenant:${tenant}`;
}

/**
 * Each answer says this in its headers, and each socket in the payload of `connection_ack`: whose its answers are, since a client
 * must not show to one reader what it keeps of another, and the language of its sentences.
 */
export function saidToReader(
  identity: Identity,
  locale: Locale,
): Readonly<Record<typeof READER_HEADER | typeof LANGUAGE_HEADER, string>> {
  return { [READER_HEADER]: readerOf(identity), [LANGUAGE_HEADER]: locale };
}

/** Base64, since ids are any text. */
function readerOf({ userId }: Identity): string {
  return Buffer.from(userId).toString('base64url');
}

/** A request for one reader with the token of another: nothing is read or changed. @param reader the header of the request, if it has one */
export function refuseOther(identity: Identity | null, reader: string | undefined): FanfareError | undefined {
  if (identity === null || reader === undefined || readerOf(identity) === reader) return undefined;
  return new FanfareError('CONFLICT', 'The header Fanfare-Reader names another member than the token');
}
