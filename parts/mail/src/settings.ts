import { z } from 'zod';
import { kind, type Kind } from '../../../src/config/kinds.ts';
import { type ConfigFault, partSettings } from '../../../src/config/part-settings.ts';
import { optional, type SettingValues, type ValuesOf } from '../../../src/config/settings.ts';
import { MAX_KEY_BYTES, MIN_KEY_BYTES, signingKey } from '../../../src/domain/signature.ts';

/** Where mails are handed over. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte. Otherwise by STARTTLS, if the server offers it. */
  readonly isSecure: boolean;
  /** `null`: without signing in. */
  readonly login: { readonly user: string; readonly pass: string } | null;
}

const SERVER =
  'smtp:// or smtps://, as needed user and password, a host and as needed a port, such as smtp://user:password@mail.example:587';
const PORTS = { 'smtp:': 587, 'smtps:': 465 } as const;

/** The address of an SMTP server. */
function mailServer(): Kind<MailServer> {
  return kind(SERVER, serverOf);
}

function serverOf(text: string): MailServer | null {
  if (!URL.canParse(text)) return null;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text);
  if (protocol !== 'smtp:' && protocol !== 'smtps:') return null;
  if (hostname === '' || !['', '/'].includes(pathname) || search !== '' || hash !== '') return null;
  const [user, pass] = [decoded(username), decoded(password)];
  if (user === null || pass === null || (user === '') !== (pass === '')) return null;
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? PORTS[protocol] : Number(port),
    isSecure: protocol === 'smtps:',
    login: user === '' ? null : { user, pass },
  };
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Who sends mails. */
export interface MailSender {
  /** `null`: the address alone. */
  readonly name: string | null;
  readonly address: string;
}

const SENDER = 'a mail address, as needed with a name: Fanfare <feed@app.example>';
const NAMED = /^(?:([^<>"\p{C}]{1,100}?)\s*<([^<>]+)>|([^<>\s]+))$/u;

function mailSender(): Kind<MailSender> {
  return kind(SENDER, (text) => {
    const [, name, named, alone] = NAMED.exec(text) ?? [];
    const address = named ?? alone ?? '';
    if (!z.regexes.html5Email.test(address) || address.length > 254) return null;
    return { name: name ?? null, address };
  });
}

const LINK = 'a URL that begins with https:// or http://, such as https://app.example/notifications?id={id}';

/** A page of the host application. */
function mailLink(): Kind<string> {
  return kind(LINK, (text) =>
    /^https?:\/\/[^\s"'<>\\`]+$/.test(text) && URL.canParse(text.replaceAll('{id}', 'id')) ? text : null,
  );
}

const MOST_SECRETS = 5;
const SECRETS = `1 to ${String(MOST_SECRETS)} secrets, separated by commas: each whsec_ and ${String(MIN_KEY_BYTES)} to ${String(MAX_KEY_BYTES)} bytes in Base64`;

/** The keys of secrets as webhooks have them. */
function signingKeys(): Kind<readonly Uint8Array[]> {
  return kind(SECRETS, (text) => {
    const keys = text.split(',').map((one) => signingKey(one.trim()));
    return keys.length <= MOST_SECRETS && keys.every((key) => key !== null) ? keys : null;
  });
}

/** How mails are sent. */
export interface MailConfig {
  readonly server: MailServer;
  readonly from: MailSender;
  /** The page that mails lead to. */
  readonly link: string;
  readonly publicUrl: string;
  /** Of bounces and complaints; empty: none are taken. */
  readonly eventKeys: readonly Uint8Array[];
}

const SETTINGS = {
  MAIL_URL: optional(
    mailServer(),
    'The SMTP server by which the server mails members: smtp:// with STARTTLS, or smtps://, such as smtps://user:password@mail.example; see mail.md. Not set: no mails are sent.',
    { isSecret: true, shownDefault: 'none' },
  ),
  MAIL_FROM: optional(mailSender(), 'From whom mails are, such as Fanfare <feed@app.example>.'),
  MAIL_LINK: optional(
    mailLink(),
    'The page of the app that mails lead to, such as https://app.example/notifications?id={id}; {id} becomes the id of the notification, of the action in a digest, or nothing.',
  ),
  MAIL_EVENTS_SECRET: optional(
    signingKeys(),
    'Secrets by which bounces and complaints are sent to /mail/events, as those of webhooks, separated by commas. Not set: the path does not exist.',
    { isSecret: true },
  ),
};

type Values = ValuesOf<typeof SETTINGS> & SettingValues;

/** Complete, or none: see `mailFaults`. */
function mailOf(values: Values): MailConfig | null {
  const [server, from] = [values.MAIL_URL, values.MAIL_FROM];
  const [link, publicUrl] = [values.MAIL_LINK, values.PUBLIC_URL];
  if (server === undefined || from === undefined || link === undefined || publicUrl === undefined)
    return null;
  return { server, from, link, publicUrl, eventKeys: values.MAIL_EVENTS_SECRET ?? [] };
}

const MAIL_SETTINGS = ['MAIL_URL', 'MAIL_FROM', 'MAIL_LINK'] as const;

/** Mails need all of their settings, the address of the server for links that end them, and recorded events. */
function mailFaults(values: Partial<Values>, faults: readonly ConfigFault[]): readonly ConfigFault[] {
  const isMissing = (name: keyof Values): boolean =>
    values[name] === undefined && !faults.some((fault) => fault.name === name);
  const missing = MAIL_SETTINGS.filter(isMissing);
  if (MAIL_SETTINGS.every((name) => values[name] === undefined))
    return values.MAIL_EVENTS_SECRET === undefined || missing.length < MAIL_SETTINGS.length
      ? []
      : [{ name: 'MAIL_EVENTS_SECRET', message: 'is set without MAIL_URL, expected both or neither' }];
  if (missing.length > 0)
    return missing.map((name) => ({
      ...{ name, message: `is not set, expected all of ${MAIL_SETTINGS.join(', ')} or none` },
    }));
  if (isMissing('PUBLIC_URL'))
    return [{ name: 'PUBLIC_URL', message: 'is not set, expected it while MAIL_URL is set' }];
  return isMissing('EVENT_RETENTION')
    ? [{ name: 'MAIL_URL', message: 'is set while EVENT_RETENTION is off, expected only one of these' }]
    : [];
}

/** `null`: no mails are sent. */
export const MAIL = partSettings({ group: 'Events', settings: SETTINGS, of: mailOf, faults: mailFaults });
