import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import type { Certificate } from '../../../../test/support/certificate.ts';
import { signatureHeaders } from '../../../../src/domain/signature.ts';
import { configOf } from '../../../../test/support/config.ts';
import { MAIL, type MailConfig } from '../../src/settings.ts';

/** What the server does with the next mails. */
export type Behaviour =
  | 'take'
  /** Does not greet. */
  | 'hang'
  /** Takes the text of the mail and says nothing. */
  | 'hang at the end'
  /** Closes in the middle of the text. */
  | 'close'
  /** Keeps the mail, and closes before it says so. */
  | 'take and close'
  /** Keeps the mail, and says nothing. */
  | 'keep and hang'
  /** Answers so to who gets the mail, or to its text. */
  | { readonly at: 'RCPT' | 'DATA' | 'MAIL'; readonly code: number; readonly says: string };

export interface Smtp extends AsyncDisposable {
  readonly port: number;
  behaviour: Behaviour;
  /** Called when it has said that it has taken a mail. */
  onTaken: (() => void) | undefined;
  /** What was kept, as it came. */
  readonly kept: readonly string[];
  /** Connections that were opened. */
  readonly connections: number;
  /** Attempts to hand a mail over, by who it is for. */
  readonly attempts: readonly string[];
  /** Passwords, as they came. */
  readonly logins: readonly string[];
  /** How each mail that was kept has come. */
  readonly sessions: readonly { readonly isEncrypted: boolean; readonly user: string | null }[];
  mails(): Promise<ParsedMail[]>;
}

interface SmtpOptions {
  /** From the first byte, or by STARTTLS. Default: nothing is encrypted. */
  readonly tls?: 'tls' | 'starttls';
  readonly certificate?: Certificate;
  /** Whom alone it takes mails from. Default: everybody. */
  readonly login?: { readonly user: string; readonly pass: string };
}

/** A real SMTP server, in this process. */
export async function startSmtp({ tls, certificate, login }: SmtpOptions = {}): Promise<Smtp> {
  const logins: string[] = [];
  const sessions: Smtp['sessions'][number][] = [];
  const kept: string[] = [];
  const attempts: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const closeAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const closeOf = ({ remotePort }: { readonly remotePort: number }): void => {
    for (const socket of sockets) if (socket.remotePort === remotePort) socket.destroy();
  };
  const refusal = (at: 'RCPT' | 'DATA' | 'MAIL'): Error | null => {
    const { behaviour } = started;
    if (typeof behaviour === 'string' || behaviour.at !== at) return null;
    return Object.assign(new Error(behaviour.says), { responseCode: behaviour.code });
  };
  const server = new SMTPServer({
    ...{ authOptional: login === undefined, disableReverseLookup: true },
    disabledCommands: [...(tls === 'starttls' ? [] : ['STARTTLS']), ...(login === undefined ? ['AUTH'] : [])],
    ...{ secure: tls === 'tls', allowInsecureAuth: tls === undefined },
    ...(certificate && { key: readFileSync(certificate.keyPath), cert: readFileSync(certificate.path) }),
    onAuth({ username, password }, _session, callback) {
      logins.push(password ?? '');
      if (login !== undefined && username === login.user && password === login.pass)
        callback(null, { user: login.user });
      else callback(new Error('Who are you?'));
    },
    onConnect(_session, callback) {
      if (started.behaviour !== 'hang') callback();
    },
    onMailFrom(_address, _session, callback) {
      callback(refusal('MAIL'));
    },
    onRcptTo({ address }, _session, callback) {
      attempts.push(address);
      callback(refusal('RCPT'));
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      if (started.behaviour === 'close') {
        closeOf(session);
        return;
      }
      stream.on('end', () => {
        const refused = refusal('DATA');
        if (refused !== null) {
          callback(refused);
          return;
        }
        if (started.behaviour === 'hang at the end') return;
        kept.push(Buffer.concat(chunks).toString());
        sessions.push({ isEncrypted: session.secure, user: (session.user as string | undefined) ?? null });
        if (started.behaviour === 'keep and hang') return;
        if (started.behaviour === 'take and close') closeOf(session);
        else {
          callback();
          started.onTaken?.();
        }
      });
    },
  });
  server.on('error', () => undefined);
  server.server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  const started: Smtp = {
    ...{ port, kept, attempts, logins, sessions, behaviour: 'take', onTaken: undefined },
    get connections() {
      return connections;
    },
    mails: () => Promise.all(kept.map((raw) => simpleParser(raw))),
    async [Symbol.asyncDispose]() {
      closeAll();
      await new Promise<void>((resolve) => {
        server.close(resolve);
      });
    },
  };
  return started;
}

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** The settings of a server that sends mails there. */
export function mailEnv(port: number): Record<string, string> {
  return {
    MAIL_URL: `smtp://127.0.0.1:${String(port)}`,
    MAIL_FROM: 'Fanfare <feed@app.example>',
    MAIL_LINK: 'https://app.example/open?id={id}',
    ...{ PUBLIC_URL: 'https://feed.example', NOTIFY_AFTER: '0s' },
  };
}

/** The same as mails are sent with. */
export function mailConfig(port: number): MailConfig {
  const config = configOf(mailEnv(port)).of(MAIL);
  if (config === null) throw new Error('There are no settings of mails');
  return config;
}

/** The headers of a signed event. */
export function signed(body: string, { secret = SECRET, sentAt = new Date() } = {}): Record<string, string> {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return { ...signatureHeaders([key], { id: 'event-1', sentAt, body }) };
}
