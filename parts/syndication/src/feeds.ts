import { createHash } from 'node:crypto';
import { localeFor } from '../../../src/descriptors/registry.ts';
import { badInput, FanfareError } from '../../../src/domain/errors.ts';
import type { UserId } from '../../../src/domain/action.ts';
import { storedId, tenantOf } from '../../../src/domain/stored-id.ts';
import type { Identity } from '../../../src/domain/viewer.ts';
import { enter, sendError } from '../../../src/http/admission.ts';
import { type Handler, isKnown, readOnly, requestPath, send } from '../../../src/http/exchange/respond.ts';
import type { HttpContext } from '../../../src/http/http-context.ts';
import type { Caller } from '../../../src/http/identity/auth.ts';
import { clock } from '../../../src/lib/clock.ts';
import { entriesOfMember, entriesOfRef } from './entries.ts';
import { type Format, FORMATS, written } from './formats.ts';
import { KEPT_MS, keptFeedsOf, type KeptFeed } from './kept-feeds.ts';
import { digestOf, feedKeysRepository } from './store.ts';

/** Nothing of a feed runs where it is opened, and its address, which may have a key in it, goes nowhere. */
const HEADERS = {
  'content-security-policy': "default-src 'none'; sandbox",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** @param url address of the server, without a slash at its end */
export function syndicatedFeeds(http: HttpContext, url: string): Handler {
  return readOnly(async (req, res) => {
    try {
      const { caller, headers } = await enter(http, req);
      const asked = askedFeed(http, req);
      const { body, etag } = await readFeed(http, caller, { ...asked, url });
      const own = {
        ...HEADERS,
        ...headers,
        etag,
        'cache-control': `${asked.digest === null ? 'public' : 'private'}, max-age=${String(KEPT_MS / 1_000)}`,
        vary: 'accept-language',
      };
      if (isKnown(req.headers['if-none-match'], etag)) res.writeHead(304, own).end();
      else send(res, 200, body, { ...own, 'content-type': FORMATS[asked.format] });
    } catch (error) {
      sendError(http, res, error);
    }
  });
}

interface AskedFeed {
  /** `null`: the feed of the key's member. */
  readonly refId: string | null;
  readonly format: Format;
  readonly locale: string;
  /** The address names the language. */
  readonly isOfLocale: boolean;
  /** Of the key that opens the feed; `null`: everybody may read it. */
  readonly digest: string | null;
}

const PATH = /^\/feeds\/(?:me|ref\/([^/]+))\.(json|rss|atom)$/;
const KEY = /^[\w-]{43}$/;

function askedFeed(http: HttpContext, req: Parameters<Handler>[0]): AskedFeed {
  const [path, refId, format] = PATH.exec(requestPath(req)) ?? [];
  if (path === undefined) throw new FanfareError('NOT_FOUND', 'There is no such feed');
  const params = new URLSearchParams(req.url?.slice(path.length) ?? '');
  const lang = params.get('lang');
  const locale = localeFor(lang ?? req.headers['accept-language']);
  const needsKey = refId === undefined || http.auth.tenantClaim !== undefined;
  return {
    ...{ format: format as Format, locale, isOfLocale: lang !== null },
    refId: refId === undefined ? null : decoded(refId),
    digest: needsKey ? digestOfKey(params.get('key')) : null,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badInput('The address is not encoded as a URL is');
  }
}

function digestOfKey(key: string | null): string {
  if (key === null)
    throw new FanfareError('UNAUTHENTICATED', 'This feed is opened by a key of a member: ?key=…');
  if (!KEY.test(key)) throw noSuchKey();
  return digestOf(key);
}

function noSuchKey(): FanfareError {
  return new FanfareError('NOT_FOUND', 'There is no feed for this key: it is not complete, or was revoked');
}

/** One that this process has read lately, or the API's answer of now. */
function readFeed(
  http: HttpContext,
  caller: Caller,
  asked: AskedFeed & { readonly url: string },
): Promise<KeptFeed> {
  const { core } = http;
  const { refId, format, locale, isOfLocale, digest, url } = asked;
  const what = JSON.stringify([refId, format, locale, isOfLocale]);
  return keptFeedsOf(core).read(digest, what, async () => {
    const owner =
      digest === null ? null : await feedKeysRepository(core.collections).use(digest, clock.now());
    if (digest !== null && owner === null) throw noSuchKey();
    const { read, self } =
      refId === null
        ? { read: entriesOfMember(http, { caller, locale, identity: reader(owner ?? '') }), self: null }
        : {
            read: entriesOfRef(http, refId, { caller, locale, identity: reader(nobodyBeside(owner)) }),
            self: digest === null ? selfOf(asked, refId) : null,
          };
    const body = written(await read, format, { url, self, locale });
    return { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` };
  });
}

function reader(userId: UserId): Identity {
  return { userId, roles: new Set(['user']), expiresAt: null };
}

/** No member has an id without a character, so only what is public is shown. @param owner whose tenant it is */
function nobodyBeside(owner: UserId | null): UserId {
  const tenant = owner === null ? null : tenantOf(owner);
  return tenant === null ? '' : storedId(tenant, '');
}

function selfOf(
  { url, format, locale, isOfLocale }: AskedFeed & { readonly url: string },
  refId: string,
): string {
  const query = isOfLocale ? `?lang=${encodeURIComponent(locale)}` : '';
  return `${url}/feeds/ref/${encodeURIComponent(refId)}.${format}${query}`;
}
