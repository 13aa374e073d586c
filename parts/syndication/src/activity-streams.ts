import type { Locale } from '../../../src/descriptors/locale.ts';
import { localeFor } from '../../../src/descriptors/registry.ts';
import { badInput, FanfareError } from '../../../src/domain/errors.ts';
import { type Handler, requestPath } from '../../../src/http/exchange/respond.ts';
import type { HttpContext } from '../../../src/http/http-context.ts';
import { activityOf, contextOf, refUrl } from './activities.ts';
import { type Entries, entriesOfRef, entryOf } from './entries.ts';
import { decoded, digestForPublic, keptAnswer, type KeptAsked, nobodyBeside } from './kept-answer.ts';

const CONTENT_TYPE = 'application/activity+json; charset=utf-8';
const PATH = /^\/(?:actions\/([^/]+)|refs\/([^/]+)\/outbox)$/;
const TYPES = /application\/(?:activity|ld)\+json/i;

/** Public actions, and those of a ref, as ActivityStreams 2.0. @param url address of the server, without a slash at its end */
export function activityStreams(http: HttpContext, url: string): Handler {
  return keptAnswer(http, (req): KeptAsked => {
    const [path, action, ref] = PATH.exec(requestPath(req)) ?? [];
    if (path === undefined) throw new FanfareError('NOT_FOUND', 'There is nothing at this address');
    const { accept = '*/*' } = req.headers;
    if (accept !== '*/*' && !TYPES.test(accept))
      throw badInput('This address has ActivityStreams only: accept: application/activity+json');
    const params = new URLSearchParams(req.url?.slice(path.length) ?? '');
    const lang = params.get('lang');
    const locale = localeFor(lang ?? req.headers['accept-language']);
    const [after, page] = [params.get('after'), params.get('page')];
    const outbox: Outbox | null =
      ref === undefined
        ? null
        : {
            ...{ refId: decoded(ref), after, isPage: after !== null || page !== null },
            ...{ url, locale, isOfLocale: lang !== null },
          };
    const id = decoded(action ?? '');
    return {
      digest: digestForPublic(http, params),
      name: JSON.stringify(['activity', id, outbox, locale]),
      ...{ contentType: CONTENT_TYPE, vary: 'accept, accept-language' },
      async write(caller, owner) {
        const asked = { caller, locale, identity: nobodyBeside(owner) };
        const written =
          outbox === null
            ? activityOf(await entryOf(http, id, asked), url)
            : outboxOf(await entriesOfRef(http, outbox, asked), outbox);
        return JSON.stringify({ ...contextOf(locale), ...written });
      },
    };
  });
}

interface Outbox {
  readonly refId: string;
  /** A cursor; `null`: from the newest. */
  readonly after: string | null;
  /** Not the collection but a page of it. */
  readonly isPage: boolean;
  readonly url: string;
  readonly locale: Locale;
  readonly isOfLocale: boolean;
}

function outboxOf({ title, entries, next }: Entries & { readonly next: string | null }, outbox: Outbox) {
  const { url, refId, after, isPage, locale, isOfLocale } = outbox;
  const id = `${refUrl(url, refId)}/outbox`;
  const at = (query: Record<string, string>): string => {
    const params = new URLSearchParams({ ...query, ...(isOfLocale ? { lang: locale } : {}) }).toString();
    return params === '' ? id : `${id}?${params}`;
  };
  const first = at({ page: '1' });
  if (!isPage) return { id: at({}), type: 'OrderedCollection', name: title, first };
  return {
    id: after === null ? first : at({ after }),
    ...{ type: 'OrderedCollectionPage', partOf: at({}) },
    ...(next === null ? {} : { next: at({ after: next }) }),
    orderedItems: entries.map((entry) => activityOf(entry, url)),
  };
}
