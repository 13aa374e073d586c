import { once } from 'node:events';
import type { Server } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { createMailer, type MailerOptions } from '../../docs/examples/mailer.ts';
import { newWebhookSecret } from './webhook-receiver.ts';

export interface TestMailer extends AsyncDisposable {
  /** Where it receives webhooks, and their secret. */
  readonly url: string;
  readonly secret: string;
  /** The mails that were taken. */
  readonly mails: readonly string[];
  /** Whether the SMTP server takes mails. Default: true. */
  takesMails: boolean;
}

function portOf(server: Pick<Server, 'address'>): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('It does not listen');
  return String(address.port);
}

/** The example, and an SMTP server that it sends to. Bob has no address. */
export async function startMailer(api: MailerOptions['api']): Promise<TestMailer> {
  const mails: string[] = [];
  const smtp = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData(stream, _session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (!started.takesMails) {
          callback(new Error('Not now'));
          return;
        }
        mails.push(Buffer.concat(chunks).toString());
        callback();
      });
    },
  });
  smtp.listen(0, '127.0.0.1');
  await once(smtp.server, 'listening');
  const secret = newWebhookSecret();
  const mailer = createMailer({
    ...{ secret, smtp: `smtp://127.0.0.1:${portOf(smtp.server)}`, api },
    ...{ from: 'feed@app.example', link: 'https://app.example/feed' },
    addressOf: (memberId) => Promise.resolve(memberId === 'bob' ? null : `${memberId}@app.example`),
  });
  mailer.listen(0, '127.0.0.1');
  await once(mailer, 'listening');
  const started: TestMailer = {
    ...{ url: `http://127.0.0.1:${portOf(mailer)}/`, secret, mails, takesMails: true },
    async [Symbol.asyncDispose]() {
      mailer.close();
      mailer.closeAllConnections();
      await new Promise<void>((resolve) => {
        smtp.close(resolve);
      });
    },
  };
  return started;
}
