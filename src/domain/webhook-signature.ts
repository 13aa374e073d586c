import { createHmac } from 'node:crypto';

/** Secrets are this prefix followed by the key in Base64. */
const SECRET = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;
export const MIN_KEY_BYTES = 24;
export const MAX_KEY_BYTES = 64;

/** The key of a secret such as `whsec_…`; `null` when the secret is malformed or its key too short or too long. */
export function webhookKey(secret: string): Uint8Array | null {
  const key = Buffer.from(SECRET.exec(secret)?.[1] ?? '', 'base64');
  return key.length >= MIN_KEY_BYTES && key.length <= MAX_KEY_BYTES ? key : null;
}

/**
 * Signs per the Standard Webhooks specification, once per key: a receiver that knows any of the keys accepts the message.
 */
export function signatureHeaders(
  keys: readonly Uint8Array[],
  message: { readonly id: string; readonly sentAt: Date; readonly body: string },
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(message.sentAt.getTime() / 1_000));
  const signed = `${message.id}.${timestamp}.${message.body}`;
  const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
  return {
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
