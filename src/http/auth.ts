import { createRemoteJWKSet, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import { FanfareError } from '../domain/errors.ts';
import { ROLES, type Identity, type Role } from '../domain/viewer.ts';

export type AuthOptions = ({ readonly secret: string } | { readonly jwksUri: string }) & {
  /** Required `iss` claim; absent: not looked at. */
  readonly issuer?: string | undefined;
  /** Required `aud` claim; absent: not looked at. */
  readonly audience?: string | undefined;
};

/**
 * Finds out who a credential belongs to; the same for HTTP, SSE and WebSocket. Null when there is no credential.
 * Rejects with UNAUTHENTICATED when it does not hold, with UNAVAILABLE when the keys cannot be fetched.
 * @param authorization the value of an `authorization` header or connection parameter
 */
export type Authenticate = (authorization: string | undefined) => Promise<Identity | null>;

const MAX_TOKEN_LENGTH = 8_192;
const MAX_CACHED = 10_000;
/** Longest time in milliseconds for which a token is not verified again. */
const MAX_CACHED_MS = 60_000;
const MAX_SUBJECT_LENGTH = 256;
const SUBJECT = /^\P{Cc}+$/u;
/** The latest time a Date can hold. */
const LAST_TIME = 8.64e15;
/** One kind of algorithm per kind of key: a public key must never be taken for a shared secret. */
const SECRET_ALGORITHMS = ['HS256'];
const PUBLIC_KEY_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519'];

export function createAuthenticator(options: AuthOptions): Authenticate {
  const verify = createVerifier(options);
  const cache = new LRUCache<string, Identity>({ max: MAX_CACHED });

  return async function authenticate(authorization) {
    if (authorization === undefined) return null;
    const [, token] = /^Bearer +([\w.~+/-]+=*) *$/i.exec(authorization) ?? [];
    if (token === undefined) throw unauthenticated('The authorization is not of the form "Bearer <token>"');
    if (token.length > MAX_TOKEN_LENGTH) throw unauthenticated('The token is too long');
    const cached = cache.get(token);
    if (cached !== undefined && !isExpired(cached)) return cached;
    const identity = toIdentity(await verify(token));
    cache.set(token, identity, { ttl: Math.min(MAX_CACHED_MS, Math.max(1, remainingMs(identity))) });
    return identity;
  };
}

/** Milliseconds until the token of an identity ends. */
export function remainingMs({ expiresAt }: Identity): number {
  return expiresAt === null ? Infinity : expiresAt.getTime() - Date.now();
}

function isExpired(identity: Identity): boolean {
  return remainingMs(identity) <= 0;
}

export function unauthenticated(message: string, cause?: unknown): FanfareError {
  return new FanfareError('UNAUTHENTICATED', message, { cause });
}

function createVerifier(options: AuthOptions): (token: string) => Promise<JWTPayload> {
  const isSecret = 'secret' in options;
  const secret = isSecret ? new TextEncoder().encode(options.secret) : null;
  const getKey: JWTVerifyGetKey = isSecret
    ? () => secret ?? new Uint8Array()
    : createRemoteJWKSet(new URL(options.jwksUri));
  const checks = {
    algorithms: isSecret ? SECRET_ALGORITHMS : PUBLIC_KEY_ALGORITHMS,
    requiredClaims: ['exp', 'sub'],
    ...(options.issuer !== undefined && { issuer: options.issuer }),
    ...(options.audience !== undefined && { audience: options.audience }),
  };
  return async (token) => {
    try {
      return (await jwtVerify(token, getKey, checks)).payload;
    } catch (error) {
      throw refusal(error);
    }
  };
}

/** What a failed verification means: nearly always a bad token, unless the keys could not be had. */
function refusal(error: unknown): FanfareError {
  if (error instanceof errors.JWTExpired) return unauthenticated('The token has expired', error);
  const isKeyTrouble =
    !(error instanceof errors.JOSEError) ||
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid ||
    error.code === 'ERR_JOSE_GENERIC';
  if (isKeyTrouble) return new FanfareError('UNAVAILABLE', 'Tokens cannot be verified now', { cause: error });
  return unauthenticated('The token is not valid', error);
}

function toIdentity(claims: JWTPayload): Identity {
  const { sub, exp } = claims;
  if (typeof sub !== 'string' || sub.length > MAX_SUBJECT_LENGTH || !SUBJECT.test(sub) || !sub.isWellFormed())
    throw unauthenticated('The token names no usable subject');
  if (exp === undefined) throw unauthenticated('The token has no end');
  return {
    userId: sub,
    roles: rolesOf(claims['roles']),
    expiresAt: new Date(Math.min(exp * 1_000, LAST_TIME)),
  };
}

/** One set for all who have the same roles: every token that is known and every socket keeps one. */
const ROLE_SETS = new Map<string, ReadonlySet<Role>>();

/** Roles this server does not know are somebody else's. */
function rolesOf(claim: unknown): ReadonlySet<Role> {
  const given: readonly unknown[] = Array.isArray(claim) ? claim : [];
  const known = ROLES.filter((role) => given.includes(role));
  const roles: readonly Role[] = known.length > 0 ? known : ['user'];
  const name = roles.join(' ');
  const shared = ROLE_SETS.get(name) ?? new Set(roles);
  ROLE_SETS.set(name, shared);
  return shared;
}
