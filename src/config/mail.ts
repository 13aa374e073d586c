import { z } from 'zod';
import { MAX_KEY_BYTES, MIN_KEY_BYTES, webhookKey } from '../domain/webhook.ts';
import { kind, type Kind } from './kinds.ts';

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
export function mailServer(): Kind<MailServer> {
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

export function mailSender(): Kind<MailSender> {
  return kind(SENDER, (text) => {
    const [, name, named, alone] = NAMED.exec(text) ?? [];
    const address = named ?? alone ?? '';
    if (!z.regexes.html5Email.test(address) || address.length > 254) return null;
    return { name: name ?? null, address };
  });
}

const LINK = 'a URL that begins with https:// or http://, such as https://app.example/notifications?id={id}';

/** A page of the host application. */
export function mailLink(): Kind<string> {
  return kind(LINK, (text) =>
    /^https?:\/\/[^\s"'<>\\`]+$/.test(text) && URL.canParse(text.replaceAll('{id}', 'id')) ? text : null,
  );
}

const MOST_SECRETS = 5;
const SECRETS = `1 to ${String(MOST_SECRETS)} secrets, separated by commas: each whsec_ and ${String(MIN_KEY_BYTES)} to ${String(MAX_KEY_BYTES)} bytes in Base64`;

/** The keys of secrets as webhooks have them. */
export function signingKeys(): Kind<readonly Uint8Array[]> {
  return kind(SECRETS, (text) => {
    const keys = text.split(',').map((one) => webhookKey(one.trim()));
    return keys.length <= MOST_SECRETS && keys.every((key) => key !== null) ? keys : null;
  });
}
