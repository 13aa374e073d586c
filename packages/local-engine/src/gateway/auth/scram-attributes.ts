import { createHmac } from 'node:crypto';

/** What both sides of SCRAM-SHA-256 (RFC 5802, 7677) need. Each attribute is a letter, `=` and a value. */
export function readAttributes(message: Buffer | string): Map<string, string> {
  return new Map(
    message
      .toString()
      .split(',')
      .map((part) => [part.slice(0, 1), part.slice(2)]),
  );
}

export function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
