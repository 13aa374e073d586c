import { createHash } from 'node:crypto';
import type { UserId } from '../../../src/domain/action.ts';
import { badInput, FanfareError } from '../../../src/domain/errors.ts';
import { storedId, tenantOf } from '../../../src/domain/stored-id.ts';
import type { Identity } from '../../../src/domain/viewer.ts';
import { enter, sendError } from '../../../src/http/admission.ts';
import { type Handler, isKnown, readOnly, send } from '../../../src/http/exchange/respond.ts';
import type { HttpContext } from '../../../src/http/http-context.ts';
import type { Caller } from '../../../src/http/identity/auth.ts';
import { clock } from '../../../src/lib/clock.ts';
import { KEPT_MS, keptFeedsOf } from './kept-feeds.ts';
import { digestOf, feedKeysRepository } from './store.ts';

/** Nothing of it runs where it is opened, and its address, which may have a key in it, goes nowhere. */
const HEADERS = {
  'content-security-policy': "default-src 'none'; sandbox",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** What a request asks for. */
export interface KeptAsked {
  /** Of the key that opens it; `null`: everybody may read it. */
  readonly digest: string | null;
  /** Of all that it depends on beside the key. */
  readonly name: string;
  readonly contentType: string;
  /** Headers of the request that it depends on. */
  readonly vary: string;
  /** @param owner whose key it is; `null`: it is open to everybody */
  readonly write: (caller: Caller, owner: UserId | null) => Promise<string>;
}

/** Answers with what this process has written lately, or writes now, and with 304 if the client has it. */
export function keptAnswer(http: HttpContext, askedBy: (req: Parameters<Handler>[0]) => KeptAsked): Handler {
  return readOnly(async (req, res) => {
    try {
      const { caller, headers } = await enter(http, req);
      const { digest, name, contentType, vary, write } = askedBy(req);
      const { body, etag } = await keptFeedsOf(http.core).read(digest, name, async () => {
        const text = await write(caller, await ownerOf(http, digest));
        return { body: text, etag: `"${createHash('sha256').update(text).digest('base64url')}"` };
      });
      const own = {
        ...{ ...HEADERS, ...headers, etag, vary },
        'cache-control': `${digest === null ? 'public' : 'private'}, max-age=${String(KEPT_MS / 1_000)}`,
      };
      if (isKnown(req.headers['if-none-match'], etag)) res.writeHead(304, own).end();
      else send(res, 200, body, { ...own, 'content-type': contentType });
    } catch (error) {
      sendError(http, res, error);
    }
  });
}

const KEY = /^[\w-]{43}$/;

/** Of the key in the address. @throws FanfareError UNAUTHENTICATED if there is none; NOT_FOUND */
export function digestOfKey(params: URLSearchParams): string {
  const key = params.get('key');
  if (key === null)
    throw new FanfareError('UNAUTHENTICATED', 'This feed is opened by a key of a member: ?key=…');
  if (!KEY.test(key)) throw noSuchKey();
  return digestOf(key);
}

/** The same where everybody may read what is public, unless there are tenants. */
export function digestForPublic(http: HttpContext, params: URLSearchParams): string | null {
  return http.auth.tenantClaim === undefined ? null : digestOfKey(params);
}

async function ownerOf({ core }: HttpContext, digest: string | null): Promise<UserId | null> {
  if (digest === null) return null;
  const owner = await feedKeysRepository(core.collections).use(digest, clock.now());
  if (owner === null) throw noSuchKey();
  return owner;
}

function noSuchKey(): FanfareError {
  return new FanfareError('NOT_FOUND', 'There is no feed for this key: it is not complete, or was revoked');
}

export function reader(userId: UserId): Identity {
  return { userId, roles: new Set(['user']), expiresAt: null };
}

/** No member has an id without a character, so only what is public is shown. @param owner whose tenant it is */
export function nobodyBeside(owner: UserId | null): Identity {
  const tenant = owner === null ? null : tenantOf(owner);
  return reader(tenant === null ? '' : storedId(tenant, ''));
}

/** @throws FanfareError BAD_USER_INPUT */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badInput('The address is not encoded as a URL is');
  }
}
