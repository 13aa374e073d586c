import { createServer, type IncomingMessage, type Server } from 'node:http';
import nodemailer from 'nodemailer';
import { Webhook } from 'standardwebhooks';

export interface DigestMailerOptions {
  /** As in `WEBHOOKS` of the server. */
  readonly secret: string;
  /** Address of the SMTP server, such as smtp://localhost:25. */
  readonly smtp: string;
  readonly from: string;
  /** Where members read their feed. */
  readonly link: string;
  /** The mail address of a member, from the host application; null: none. */
  readonly addressOf: (memberId: string) => Promise<string | null>;
}

interface DigestDue {
  readonly type: string;
  readonly data: {
    readonly memberId: string;
    readonly unread: { readonly count: number; readonly isExact: boolean };
  };
}

const MAX_BODY_BYTES = 1_048_576;
/** Ids of mailed events, so that nobody gets a mail twice. With several processes, use a table with a unique key. */
const REMEMBERED = 10_000;

/** A receiver that mails each `digest.due`. Closing the server closes everything. */
export function createDigestMailer(options: DigestMailerOptions): Server {
  const webhook = new Webhook(options.secret);
  const transport = nodemailer.createTransport(options.smtp);
  const known = new Set<string>();

  async function receive(request: IncomingMessage): Promise<number> {
    const body = await bodyOf(request);
    if (body === null) return 413;
    const id = String(request.headers['webhook-id']);
    let event: DigestDue;
    try {
      event = webhook.verify(body, request.headers as Record<string, string>) as DigestDue;
    } catch {
      return 401;
    }
    if (event.type !== 'digest.due' || known.has(id)) return 204;
    const to = await options.addressOf(event.data.memberId);
    if (to !== null) await transport.sendMail(mailTo(to, event.data.unread));
    // Only now: an event whose mail failed is sent again.
    known.add(id);
    for (const oldest of known) if (known.size > REMEMBERED) known.delete(oldest);
    return 204;
  }

  function mailTo(to: string, { count, isExact }: DigestDue['data']['unread']) {
    const many = `${isExact ? '' : 'more than '}${String(count)}`;
    const subject = count === 1 ? 'Something new for you' : `${many} new things for you`;
    return { from: options.from, to, subject, text: `${subject}: ${options.link}\n` };
  }

  const server = createServer((request, response) => {
    receive(request).then(
      (status) => response.writeHead(status).end(),
      // For example an unavailable mail server: the event is sent again.
      () => response.writeHead(503).end(),
    );
  });
  return server.on('close', () => {
    transport.close();
  });
}

/** Null: the body is too large. */
async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_BODY_BYTES) return null;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString();
}
