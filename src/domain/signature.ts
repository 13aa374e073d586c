import { createHmac, timingSafeEqual } from 'node:crypto';

/** Secrets are this prefix followed by the key in Base64. */
const SECRET = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;
export const MIN_KEY_BYTES = 24;
export const MAX_KEY_BYTES = 64;

/** The key of a secret such as `whsec_…`; `null` when the secret is malformed or its key too short or too long. */
export function signingKey(secret: string): Uint8Array | null {
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

/** A message that is older or newer by more is not taken, so that nobody can send it again. */
const MAX_AGE_MS = 5 * 60_000;

/** Whether a message is signed with one of the keys, and just now. @param header by name in lower case; empty: there is none */
export function isSigned(
  keys: readonly Uint8Array[],
  message: { readonly header: (name: string) => string; readonly body: string; readonly now: Date },
): boolean {
  const { header, body, now } = message;
  const [id, seconds] = [header('webhook-id'), header('webhook-timestamp')];
  const sentAt = new Date(Number(seconds) * 1_000);
  if (id === '' || !/^\d{1,12}$/.test(seconds)) return false;
  if (Math.abs(now.getTime() - sentAt.getTime()) > MAX_AGE_MS) return false;
  const given = header('webhook-signature').split(' ').slice(0, MOST_SIGNATURES);
  const known = signatureHeaders(keys, { id, sentAt, body })['webhook-signature']?.split(' ') ?? [];
  return given.some((one) => known.some((other) => isSame(one, other)));
}

const MOST_SIGNATURES = 10;

function isSame(...texts: readonly [string, string]): boolean {
  const [one, other] = [Buffer.from(texts[0]), Buffer.from(texts[1])];
  return one.length === other.length && timingSafeEqual(one, other);
}

const FIRST_DELAY_MS = 5_000;
const FACTOR = 3;
const MAX_DELAY_MS = 3_600_000;

/**
 * Delay after a number of failed attempts: 5 s, 15 s, 45 s and so on up to an hour, shortened by a random share of up to
 * half so that retries spread out.
 * @param random from 0 to 1.
 */
export function retryDelayMs(attempts: number, random: number): number {
  const full = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * FACTOR ** Math.max(0, attempts - 1));
  return Math.round(full * (1 - random / 2));
}

/** Longest delay that a receiver can request. */
export const MAX_RETRY_AFTER_MS = MAX_DELAY_MS;
