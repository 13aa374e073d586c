import { type MailContent, type MailItem, MAILS, type WrittenMail } from './host.ts';
import { ofHost } from '../../../src/descriptors/registry.ts';
import { shortened } from '../../../src/lib/cut.ts';

/** Of a subject, in characters. */
const MAX_SUBJECT = 150;
/** Scripts that are written from right to left. */
const FROM_RIGHT: ReadonlySet<string> = new Set(['Arab', 'Hebr', 'Syrc', 'Thaa', 'Nkoo', 'Adlm', 'Rohg']);

/** A mail as the server writes it. @param brand name of the sender */
export function writtenMail(mail: MailContent, brand: string): WrittenMail {
  const lines = linesOf(mail);
  return { subject: lines.subject, text: textOf(mail, lines), html: htmlOf(mail, lines, brand) };
}

interface Lines {
  readonly subject: string;
  /** What mail programs show beside the subject. */
  readonly preheader: string;
  readonly heading: string;
  /** Of the feed; `null`: the heading says it, or there is nothing to say. */
  readonly digest: string | null;
  readonly items: readonly MailItem[];
  /** Of the feed, beyond the items; `null`: all are shown, or nobody knows how many there are. */
  readonly moreItems: string | null;
  /** `null`: all are shown. */
  readonly more: string | null;
  readonly open: string;
  readonly why: string;
  readonly unsubscribe: string;
  readonly timeOf: (one: MailItem) => string;
}

function linesOf({ locale, timeZone, notifications, more, digest }: MailContent): Lines {
  const say = ofHost(MAILS).phrasesIn(locale);
  const times = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone });
  const news =
    digest === null
      ? null
      : digest.isExact
        ? say.digest({ count: digest.count })
        : say.longDigest({ count: digest.count });
  const [first, ...others] = notifications;
  const count = notifications.length + more;
  const heading = first === undefined ? (news ?? '') : count === 1 ? first.text : say.several({ count });
  const items = digest?.items ?? [];
  const left = digest === null || !digest.isExact || items.length === 0 ? 0 : digest.count - items.length;
  const beside = [
    ...(count === 1 ? [] : notifications.map(({ text }) => text)),
    ...(first === undefined || news === null ? items.map(({ text }) => text) : [news]),
  ];
  return {
    subject: oneLine(
      first === undefined || count === 1
        ? heading
        : `${first.text} ${say.more({ count: others.length + more })}`,
    ),
    preheader: shortened(beside.join(' · '), MAX_SUBJECT),
    heading,
    ...{ digest: first === undefined ? null : news, items },
    moreItems: left > 0 ? say.more({ count: left }) : null,
    more: more === 0 ? null : say.more({ count: more }),
    ...{ open: say.open(), why: say.why(), unsubscribe: say.unsubscribe() },
    timeOf: ({ at }) => times.format(at),
  };
}

/** A subject has no line breaks, whatever names have. */
function oneLine(text: string): string {
  return shortened(text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim(), MAX_SUBJECT);
}

function textOf(mail: MailContent, lines: Lines): string {
  const isOne = mail.notifications.length + mail.more === 1;
  return [
    lines.heading,
    ...mail.notifications.flatMap((one) => ['', ...(isOne ? [] : [one.text]), lines.timeOf(one), one.link]),
    ...(lines.more === null ? [] : ['', lines.more]),
    ...(lines.digest === null ? [] : ['', lines.digest]),
    ...lines.items.flatMap((one) => ['', one.text, lines.timeOf(one), one.link]),
    ...(lines.moreItems === null ? [] : ['', lines.moreItems]),
    ...(mail.notifications.length > 0 && lines.digest === null && lines.more === null
      ? []
      : ['', `${lines.open}: ${mail.link}`]),
    // As mail programs know the end of a text.
    ...['', '-- ', lines.why],
    ...(mail.unsubscribe === null ? [] : [`${lines.unsubscribe}: ${mail.unsubscribe}`]),
    '',
  ].join('\n');
}

const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";

/** Mail programs that know no styles of a document show the light look, which each element has itself. */
const STYLES = `:root{color-scheme:light dark;supported-color-schemes:light dark}
a{text-decoration:none}
@media (max-width:480px){.page{padding:12px!important}.card{padding:20px!important}.open{display:block!important}}
@media (prefers-color-scheme:dark){
.page{background:#0d0e11!important}.card{background:#15171b!important;border-color:#2a2d34!important}
.text{color:#eaebee!important}.quiet{color:#9da3ad!important}.line{border-color:#2a2d34!important}
.open{background:#a8acff!important;color:#11121a!important}}`;

function htmlOf(mail: MailContent, lines: Lines, brand: string): string {
  const isOne = mail.notifications.length + mail.more === 1;
  const [first] = mail.notifications;
  const rows = mail.notifications.map((one) => rowOf(one, lines, isOne)).join('');
  const heading = isOne && first !== undefined ? sentenceOf(first) : escaped(lines.heading);
  const quiet = (text: string | null): string =>
    text === null
      ? ''
      : `<p class="quiet" style="margin:16px 0 0;font-size:13px;line-height:18px;color:#5d6169">${escaped(text)}</p>`;
  const below = [
    quiet(lines.more),
    lines.digest === null
      ? ''
      : `<p class="text line" style="margin:16px 0 0;padding:16px 0 0;border-top:1px solid #e4e5e9;font-size:15px;line-height:22px;color:#1b1c20">${escaped(lines.digest)}</p>`,
    ...lines.items.map((one) => rowOf(one, lines, false)),
    quiet(lines.moreItems),
  ].join('');
  const link = isOne && first !== undefined ? first.link : mail.link;
  const end =
    mail.unsubscribe === null
      ? ''
      : `<br><a class="quiet" href="${escaped(mail.unsubscribe)}" style="color:#5d6169;text-decoration:underline">${escaped(lines.unsubscribe)}</a>`;
  return `<!DOCTYPE html>
<html lang="${escaped(mail.locale)}" dir="${directionOf(mail.locale)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escaped(lines.subject)}</title>
<style>${STYLES}</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f7f7f8">
<div style="display:none;max-height:0;overflow:hidden">${escaped(lines.preheader)}</div>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr>
<td class="page" align="center" style="padding:32px 16px;background:#f7f7f8;${FONT}">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:520px"><tr>
<td class="quiet" style="padding:0 4px 12px;font-size:13px;line-height:18px;color:#5d6169"><bdi>${escaped(brand)}</bdi></td></tr><tr>
<td class="card" style="padding:28px;overflow-wrap:anywhere;word-break:break-word;background:#ffffff;border:1px solid #e4e5e9;border-radius:10px">
<h1 class="text" style="margin:0;font-size:19px;line-height:27px;font-weight:600;color:#1b1c20">${heading}</h1>
${rows}${below}
<p style="margin:24px 0 0"><a class="open" href="${escaped(link)}" style="display:inline-block;padding:10px 20px;border-radius:6px;background:#4247cf;color:#ffffff;font-size:15px;line-height:20px;font-weight:600;text-align:center">${escaped(lines.open)}</a></p>
</td></tr><tr>
<td class="quiet" style="padding:16px 4px 0;font-size:12px;line-height:18px;color:#5d6169">${escaped(lines.why)}${end}</td></tr></table>
</td></tr></table>
</body>
</html>
`;
}

function rowOf(one: MailItem, { timeOf }: Lines, isOne: boolean): string {
  const time = `<span class="quiet" style="font-size:13px;line-height:18px;color:#5d6169">${escaped(timeOf(one))}</span>`;
  if (isOne) return `<p style="margin:6px 0 0">${time}</p>`;
  return `<div class="line" style="margin:16px 0 0;padding:16px 0 0;border-top:1px solid #e4e5e9"><a class="text" href="${escaped(one.link)}" style="font-size:15px;line-height:22px;color:#1b1c20">${sentenceOf(one)}</a><br>${time}</div>`;
}

/** Names stand out, and letters of another direction do not change the order around them. */
function sentenceOf({ parts }: MailItem): string {
  return parts
    .map(({ text, isName }) =>
      isName ? `<bdi style="font-weight:600">${escaped(text)}</bdi>` : escaped(text),
    )
    .join('');
}

function directionOf(locale: string): 'ltr' | 'rtl' {
  return FROM_RIGHT.has(new Intl.Locale(locale).maximize().script ?? '') ? 'rtl' : 'ltr';
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' },
};

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (one) => ESCAPES[one] ?? '');
}
