import { localeFor } from '../../../src/descriptors/registry.ts';
import { FanfareError } from '../../../src/domain/errors.ts';
import { type Handler, requestPath } from '../../../src/http/exchange/respond.ts';
import type { HttpContext } from '../../../src/http/http-context.ts';
import { entriesOfMember, entriesOfRef } from './entries.ts';
import { type Format, FORMATS, written } from './formats.ts';
import {
  decoded,
  digestForPublic,
  digestOfKey,
  keptAnswer,
  type KeptAsked,
  nobodyBeside,
  reader,
} from './kept-answer.ts';

const PATH = /^\/feeds\/(?:me|ref\/([^/]+))\.(json|rss|atom)$/;

/** Feeds for feed readers. @param url address of the server, without a slash at its end */
export function syndicatedFeeds(http: HttpContext, url: string): Handler {
  return keptAnswer(http, (req): KeptAsked => {
    const [path, ref, as] = PATH.exec(requestPath(req)) ?? [];
    if (path === undefined) throw new FanfareError('NOT_FOUND', 'There is no such feed');
    const params = new URLSearchParams(req.url?.slice(path.length) ?? '');
    const lang = params.get('lang');
    const locale = localeFor(lang ?? req.headers['accept-language']);
    const format = as as Format;
    const refId = ref === undefined ? null : decoded(ref);
    const digest = refId === null ? digestOfKey(params) : digestForPublic(http, params);
    const query = lang === null ? '' : `?lang=${encodeURIComponent(locale)}`;
    const self =
      refId === null || digest !== null
        ? null
        : `${url}/feeds/ref/${encodeURIComponent(refId)}.${format}${query}`;
    return {
      digest,
      name: JSON.stringify([refId, format, locale, lang !== null]),
      ...{ contentType: FORMATS[format], vary: 'accept-language' },
      async write(caller, owner) {
        const entries =
          refId === null
            ? await entriesOfMember(http, { caller, locale, identity: reader(owner ?? '') })
            : await entriesOfRef(
                http,
                { refId, after: null },
                { caller, locale, identity: nobodyBeside(owner) },
              );
        return written(entries, format, { url, self, locale });
      },
    };
  });
}
