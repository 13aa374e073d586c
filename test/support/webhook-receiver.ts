import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { signingKey } from '../../src/domain/signature.ts';
import type { WebhookReceiver } from '../../parts/webhooks/src/receivers.ts';
import type { WebhookPayload } from '../../parts/webhooks/src/webhook.ts';

export interface ReceivedWebhook {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly payload: WebhookPayload;
}

export interface WebhookTarget extends AsyncDisposable {
  readonly url: string;
  readonly secret: string;
  /** As it stands in the settings. */
  readonly receiver: WebhookReceiver;
  /** Every request, in the order of arrival, whatever was answered. */
  readonly received: readonly ReceivedWebhook[];
  /** What was taken, without doubles, as a receiver stores it that drops what it knows. */
  readonly taken: ReadonlyMap<string, WebhookPayload>;
  /** For answers of a test's own. */
  take(payload: WebhookPayload): void;
  /** What is done from now on: takes it, answers that status, or never answers. */
  answer: number | 'hang' | ((request: ReceivedWebhook, response: ServerResponse) => void);
  /** Throws unless the signature fits, by the reference library of the specification. */
  verify(request: ReceivedWebhook, secret?: string): void;
}

export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** A receiver of webhooks on a port of this machine. */
export async function startWebhookTarget(
  options: { readonly secret?: string; readonly types?: WebhookReceiver['types'] } = {},
): Promise<WebhookTarget> {
  const secret = options.secret ?? newWebhookSecret();
  const received: ReceivedWebhook[] = [];
  const taken = new Map<string, WebhookPayload>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const webhook = { headers: request.headers, body, payload: JSON.parse(body) as WebhookPayload };
      received.push(webhook);
      const { answer } = target;
      if (answer === 'hang') return;
      if (typeof answer === 'function') {
        answer(webhook, response);
        return;
      }
      if (answer < 300) target.take(webhook.payload);
      response.writeHead(answer).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/events`;
  const target: WebhookTarget = {
    url,
    secret,
    receiver: {
      url,
      stream: null,
      keys: [signingKey(secret) ?? new Uint8Array()],
      types: options.types ?? null,
      tenant: null,
      allowPrivateAddress: true,
    },
    received,
    taken,
    take(payload) {
      taken.set(payload.id, payload);
    },
    answer: 200,
    verify({ headers, body }, with_ = secret) {
      new Webhook(with_).verify(body, headers as Record<string, string>);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return target;
}
