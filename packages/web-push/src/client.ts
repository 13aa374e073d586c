import { createWebhookClient, type WebhookOutcome } from '../../../src/connections/webhook-client.ts';

/** Where a browser takes push messages, and the keys that they are encrypted with. */
export interface PushTarget {
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
}

export interface PushClientOptions {
  /** The keys by which push services know this server, in base64url. */
  readonly publicKey: string;
  readonly privateKey: string;
  /** Whom push services tell of trouble: `mailto:` or `https:`. */
  readonly subject: string;
  /** Time limit of a whole attempt. */
  readonly timeoutMs: number;
  /** Also to private networks, and by plain HTTP. */
  readonly allowPrivateAddress: boolean;
}

export interface PushMessage {
  readonly body: string;
  /** How long the push service keeps it, in seconds. */
  readonly ttl: number;
}

export interface PushClient {
  /** Resolves within the time limit. Rejects when the signal aborts, and for keys that nothing can be encrypted with. */
  send(target: PushTarget, message: PushMessage, signal: AbortSignal): Promise<WebhookOutcome>;
}

/** Sends encrypted messages to push services, each by a connection of its own: members name the addresses. */
export function createPushClient(options: PushClientOptions): PushClient {
  const { publicKey, privateKey, subject, timeoutMs, allowPrivateAddress } = options;
  return {
    async send({ endpoint, p256dh, auth }, { body, ttl }, signal) {
      // Loaded by processes that send messages only.
      const { default: webPush } = await import('web-push');
      const { headers, body: encrypted } = webPush.generateRequestDetails(
        { endpoint, keys: { p256dh, auth } },
        body,
        { vapidDetails: { subject, publicKey, privateKey }, TTL: ttl },
      );
      const sent = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
      using client = createWebhookClient({
        url: endpoint,
        timeoutMs,
        allowPrivateAddress,
        maxConnections: 1,
      });
      return await client.post(Object.fromEntries(sent) as Record<string, string>, encrypted, signal);
    },
  };
}
