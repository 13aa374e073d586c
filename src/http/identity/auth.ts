import { errors, jwtVerify, type JWTPayload, type JWTVerifyOptions } from 'jose';
import { LRUCache } from 'lru-cache';
import type { UserId } from '../../domain/action.ts';
import { FanfareError } from '../../domain/errors.ts';
import { isTenantName, storedId, TENANT_FORM, type Tenant } from '../../domain/tenant.ts';
import { hasControl, isVisible } from '../../domain/text-forms.ts';
import { OPERATOR, ROLES, type Identity, type Role } from '../../domain/viewer.ts';
import { logKeysBroken, logKeysNotFetched } from '../../telemetry/events/requests.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { KeySet } from './key-set.ts';

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
};

/**
 * Determines the owner of a credential, for HTTP, SSE and WebSocket alike. `null` without a credential. Rejects with
 * UNAUTHENTICATED for an invalid one, with UNAVAILABLE when the keys cannot be fetched.
 * @param authorization value of an `authorization` header or connection parameter
 * @param tenant value of `fanfare-tenant`, with which operators name a tenant
 */
export type Authenticate = (authorization: string | undefined, tenant?: string) => Promise<Identity | null>;

/** Header and connection parameter with which an operator names a tenant. */
export const TENANT_HEADER = 'fanfare-tenant';

const MAX_TOKEN_LENGTH = 8_192;
const MAX_CACHED = 10_000;
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
  const cache = new LRUCache<string, Identity>({ max: MAX_CACHED });
  const { tenantClaim } = options;
  let version = verifier.version();

  return async function authenticate(authorization, tenant) {
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
    const idOf = (sub: string): UserId =>
      tenantClaim === undefined ? sub : storedId(tenantFor(claims, tenantClaim, tenant), sub);
    const identity = toIdentity(claims, idOf);
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

function toIdentity(claims: JWTPayload, idOf: (sub: string) => UserId): Identity {
  const { sub, exp } = claims;
  if (typeof sub !== 'string' || !isUsableSubject(sub))
    throw unauthenticated('The token has no valid subject (sub)');
  if (exp === undefined) throw unauthenticated('The token has no expiry (exp)');
  return {
    userId: idOf(sub),
    roles: rolesOf(claims['roles']),
    expiresAt: new Date(Math.min(exp * 1_000, LAST_TIME)),
  };
}

/**
 * The tenant in which a token's bearer acts: the token's own or, for operators, the one they name.
 * @throws FanfareError UNAUTHENTICATED if the token has none, FORBIDDEN if the bearer may not name one
 */
function tenantFor(claims: JWTPayload, claim: string, named: string | undefined): Tenant {
  if (rolesGiven(claims['roles']).includes(OPERATOR)) {
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
function rolesOf(claim: unknown): ReadonlySet<Role> {
  const given = rolesGiven(claim);
  const known = ROLES.filter((role) => given.includes(role));
  const roles: readonly Role[] = known.length > 0 ? known : ['user'];
  const name = roles.join(' ');
  const shared = ROLE_SETS.get(name) ?? new Set(roles);
  ROLE_SETS.set(name, shared);
  return shared;
}

function rolesGiven(claim: unknown): readonly unknown[] {
  return Array.isArray(claim) ? claim : [];
}
