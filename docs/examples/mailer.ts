import { createServer, type IncomingMessage, type Server } from 'node:http';
import nodemailer from 'nodemailer';
import { Webhook } from 'standardwebhooks';

export interface MailerOptions {
  /** As in `WEBHOOKS` of the server. */
  readonly secret: string;
  /** Address of the SMTP server, such as smtp://localhost:25. */
  readonly smtp: string;
  readonly from: string;
  /** Where members read their feed and their notifications. */
  readonly link: string;
  /** Address of the API, such as https://feed.example/graphql, and a token of a member. */
  readonly api: { readonly url: string; readonly tokenOf: (memberId: string) => Promise<string> };
  /** The mail address of a member, from the host application; null: none. */
  readonly addressOf: (memberId: string) => Promise<string | null>;
}

type Due =
  | {
      readonly type: 'digest.due';
      readonly data: {
        readonly memberId: string;
        readonly unread: { readonly count: number; readonly isExact: boolean };
      };
    }
  | {
      readonly type: 'notification.due';
      readonly data: {
        readonly memberId: string;
        readonly notifications: readonly { readonly id: string; readonly channels: readonly string[] }[];
      };
    };

const SENTENCES = 'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Notification { summary } } }';
/** What the API takes at once. */
const MOST_IDS = 100;

const MAX_BODY_BYTES = 1_048_576;
/** Ids of mailed events, so that nobody gets a mail twice. With several processes, use a table with a unique key. */
const REMEMBERED = 10_000;

/** A receiver that mails each `digest.due`, and each `notification.due` with the channel EMAIL. Closing the server closes everything. */
export function createMailer(options: MailerOptions): Server {
  const webhook = new Webhook(options.secret);
  const transport = nodemailer.createTransport(options.smtp);
  const known = new Set<string>();

  async function receive(request: IncomingMessage): Promise<number> {
    const body = await bodyOf(request);
    if (body === null) return 413;
    const id = String(request.headers['webhook-id']);
    let event: Due;
    try {
      event = webhook.verify(body, request.headers as Record<string, string>) as Due;
    } catch {
      return 401;
    }
    const isKnown = known.has(id) || !['digest.due', 'notification.due'].includes(event.type);
    const to = isKnown ? null : await options.addressOf(event.data.memberId);
    const lines = to === null ? [] : await linesOf(event);
    const [subject] = lines;
    if (to !== null && subject !== undefined)
      await transport.sendMail({
        from: options.from,
        to,
        subject,
        text: [...lines, options.link, ''].join('\n'),
      });
    // Only now: an event whose mail failed is sent again.
    known.add(id);
    for (const oldest of known) if (known.size > REMEMBERED) known.delete(oldest);
    return 204;
  }

  /** What the mail says; the first is its subject. None: there is nothing to mail. */
  async function linesOf({ type, data }: Due): Promise<readonly string[]> {
    if (type === 'notification.due') return sentencesOf(data);
    const { count, isExact } = data.unread;
    const many = `${isExact ? '' : 'more than '}${String(count)}`;
    return [count === 1 ? 'Something new for you' : `${many} new things for you`];
  }

  /** Sentences such as "Ann commented on your post", as they are now. What is gone since has none. */
  async function sentencesOf({
    memberId,
    notifications,
  }: Extract<Due, { type: 'notification.due' }>['data']) {
    const ids = notifications.filter(({ channels }) => channels.includes('EMAIL')).map(({ id }) => id);
    if (ids.length === 0) return [];
    const response = await fetch(options.api.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${await options.api.tokenOf(memberId)}`,
      },
      body: JSON.stringify({ query: SENTENCES, variables: { ids: ids.slice(0, MOST_IDS) } }),
    });
    const { data } = (await response.json()) as {
      readonly data?: { readonly nodes: readonly ({ readonly summary: string } | null)[] } | null;
    };
    if (data == null) throw new Error(`The API answered ${String(response.status)}`);
    return data.nodes.flatMap((node) => node?.summary ?? []);
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
