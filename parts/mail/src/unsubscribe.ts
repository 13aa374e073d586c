import type { IncomingMessage } from 'node:http';
import { notificationStates } from '../../notifications/src/store/states.ts';
import type { Core } from '../../../src/core/core.ts';
import type { Phrases } from '../../../src/descriptors/host-parts.ts';
import { localeFor, notificationDefaults, ofHost } from '../../../src/descriptors/registry.ts';
import { preferenceOf } from '../../../src/domain/notification.ts';
import { announceOwnMarks } from '../../../src/feed/announce.ts';
import { enter, sendError } from '../../../src/http/admission.ts';
import { type Handler, requestPath, send, sendJson } from '../../../src/http/exchange/respond.ts';
import type { HttpContext } from '../../../src/http/http-context.ts';
import { clock } from '../../../src/lib/clock.ts';
import { once } from '../../../src/lib/once.ts';
import { readBody } from './body.ts';
import { MAILS, type MailPhrase } from './host.ts';
import { mailboxesRepository } from './store.ts';
import { escaped } from './template.ts';
import { type EndSeal, type Ended, endSeal, SEAL_SECRET } from './token.ts';

/** A mail program sends `List-Unsubscribe=One-Click`. */
const MAX_BODY_BYTES = 4_096;

/** Nothing runs in the page, and its address, which has the link in it, goes nowhere. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
};

/**
 * Ends mails by the link in one of them: POST does it at once (RFC 8058), also repeatedly. GET asks, since programs that examine mails
 * open all links. Who has a link is nobody in particular: both say the same of everybody.
 */
export function unsubscribing(http: HttpContext): Handler {
  const sealOf = once(async () => endSeal(await http.core.secrets.shared(SEAL_SECRET)));
  return async (req, res) => {
    try {
      const { method = '' } = req;
      if (!['GET', 'HEAD', 'POST'].includes(method)) {
        sendJson(res, 405, { error: 'Method not allowed' }, { allow: 'GET, HEAD, POST' });
        return;
      }
      const { caller, headers } = await enter(http, req);
      if (method === 'POST') await readBody(http, req, { caller, maxBytes: MAX_BODY_BYTES });
      const opened = openedBy(await sealOf(), req);
      if (opened !== null && method === 'POST') await endMails(http.core, opened);
      const page = pageOf(opened, method === 'POST', localeFor(req.headers['accept-language']));
      send(res, opened === null ? 400 : 200, page, { ...HEADERS, ...headers });
    } catch (error) {
      sendError(http, res, error);
    }
  };
}

function openedBy(seal: EndSeal, req: IncomingMessage): ReturnType<EndSeal['open']> {
  const params = new URLSearchParams(req.url?.slice(requestPath(req).length) ?? '');
  return seal.open(params.get('t') ?? '');
}

/** Does nothing for somebody who was erased since, or whom the host does not know any more. */
async function endMails(
  core: Core,
  { userId, kinds, hasDigest, at }: Ended & { readonly at: Date },
): Promise<void> {
  const [erased, member] = await Promise.all([
    core.erasures.erasedAmong(new Map([[userId, at]])),
    core.members.find(userId),
  ]);
  if (erased.length > 0 || member === null) return;
  if (hasDigest) await mailboxesRepository(core.collections).endDigests(userId, clock.now());
  const states = notificationStates(core.collections);
  const { preferences } = await states.state(userId);
  const isLocked = (kind: (typeof kinds)[number]): boolean =>
    preferenceOf(notificationDefaults(), [], { kind, type: null, channel: 'EMAIL' }).isLocked;
  const off = kinds
    .filter((kind) => !isLocked(kind))
    .flatMap((kind) => [
      { kind, type: null, channel: 'EMAIL' as const, isOn: false },
      // What the member has said of single types counts more than what is said of all.
      ...preferences
        .filter((one) => one.kind === kind && one.channel === 'EMAIL' && one.type !== null)
        .map((one) => ({ ...one, isOn: false })),
    ]);
  if (off.length === 0) return;
  await states.setPreferences(userId, off);
  await announceOwnMarks(core, userId);
}

/** @param locale for a link that says none */
function pageOf(ended: Ended | null, isDone: boolean, locale: string): string {
  const shown = ended?.locale ?? locale;
  const say = ofHost(MAILS).phrasesIn(shown);
  const kinds = ended === null ? '' : kindsIn(say, ended, shown);
  const [title, below] =
    ended === null
      ? [say.useless(), '']
      : isDone
        ? [say.done({ kinds }), `<p>${escaped(say.later())}</p>`]
        : [say.ask({ kinds }), `<form method="post"><button>${escaped(say.unsubscribe())}</button></form>`];
  return `<!DOCTYPE html>
<html lang="${escaped(shown)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(say.unsubscribe())}</title>
<style>${STYLES}</style>
</head>
<body><main><h1>${escaped(title)}</h1>${below}</main></body>
</html>
`;
}

const STYLES = `:root{color-scheme:light dark}
body{margin:0;padding:15vh 16px 16px;background:light-dark(#f7f7f8,#0d0e11);color:light-dark(#1b1c20,#eaebee);font:15px/22px system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',sans-serif}
main{box-sizing:border-box;max-width:440px;margin:0 auto;padding:28px;border:1px solid light-dark(#e4e5e9,#2a2d34);border-radius:10px;background:light-dark(#fff,#15171b)}
h1{margin:0;font-size:19px;line-height:27px;font-weight:600;overflow-wrap:break-word}
p{margin:12px 0 0;color:light-dark(#5d6169,#9da3ad)}
button{margin:20px 0 0;padding:10px 20px;border:0;border-radius:6px;background:light-dark(#4247cf,#a8acff);color:light-dark(#fff,#11121a);font:inherit;font-weight:600;cursor:pointer}
button:focus-visible{outline:2px solid light-dark(#4247cf,#a8acff);outline-offset:2px}`;

function kindsIn(say: Phrases<MailPhrase>, { kinds, hasDigest }: Ended, locale: string): string {
  const names = [...kinds.map((kind) => say[kind]()), ...(hasDigest ? [say.digests()] : [])];
  return new Intl.ListFormat(locale, { type: 'conjunction' }).format(names);
}
