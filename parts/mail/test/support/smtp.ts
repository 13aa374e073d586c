import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { signatureHeaders } from '../../../../src/domain/webhook.ts';
import type { Config } from '../../../../src/config/config.ts';

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
  /** Answers so to who gets the mail, or to its text. */
  | { readonly at: 'RCPT' | 'DATA' | 'MAIL'; readonly code: number; readonly says: string };

export interface Smtp extends AsyncDisposable {
  readonly port: number;
  behaviour: Behaviour;
  /** What was kept, as it came. */
  readonly kept: readonly string[];
  /** Connections that were opened. */
  readonly connections: number;
  /** Attempts to hand a mail over, by who it is for. */
  readonly attempts: readonly string[];
  mails(): Promise<ParsedMail[]>;
}

/** A real SMTP server, in this process. */
export async function startSmtp(): Promise<Smtp> {
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
    ...{ authOptional: true, disabledCommands: ['STARTTLS', 'AUTH'], disableReverseLookup: true },
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
        if (started.behaviour === 'take and close') closeOf(session);
        else callback();
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
    ...{ port, kept, attempts, behaviour: 'take' },
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

/** The settings of mails to a server of this process. */
export function mailConfig(port: number): NonNullable<Config['mail']> {
  return {
    server: { host: '127.0.0.1', port, isSecure: false, login: null },
    from: { name: 'Fanfare', address: 'feed@app.example' },
    link: 'https://app.example/open?id={id}',
    publicUrl: 'https://feed.example',
    eventKeys: [],
  };
}

/** The headers of a signed event. */
export function signed(body: string, { secret = SECRET, sentAt = new Date() } = {}): Record<string, string> {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return { ...signatureHeaders([key], { id: 'event-1', sentAt, body }) };
}
