import { createLocalJWKSet, errors, importJWK, type JWK, type JWTVerifyGetKey } from 'jose';
import { FanfareError } from '../../domain/errors.ts';

export interface KeySetOptions {
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
export class KeySet {
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
