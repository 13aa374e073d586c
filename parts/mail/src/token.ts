import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Locale } from '../../../src/descriptors/locale.ts';
import type { UserId } from '../../../src/domain/action.ts';
import { NOTIFICATION_KINDS, type NotificationKind } from '../../../src/domain/notification.ts';

/** The mails of a member that a link ends. */
export interface Ended {
  readonly userId: UserId;
  readonly kinds: readonly NotificationKind[];
  readonly hasDigest: boolean;
  /** The language of the page behind the link. */
  readonly locale: Locale;
}

/** Seals what a link ends: nobody else can make one, change one, or read whose it is. */
export interface EndSeal {
  seal(ended: Ended, at: Date): string;
  /** `null`: the text is not sealed by this server. */
  open(text: string): (Ended & { readonly at: Date }) | null;
}

/** Name of the secret that all processes share. */
export const SEAL_SECRET = 'mail';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MAX_LENGTH = 4_096;
const DIGEST = 'DIGEST';

type Sealed = readonly [userId: string, names: readonly string[], locale: string, seconds: number];

/** @param secret of all processes */
export function endSeal(secret: Uint8Array): EndSeal {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'fanfare unsubscribe', KEY_BYTES));
  return {
    seal({ userId, kinds, hasDigest, locale }, at) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      const names = [...kinds, ...(hasDigest ? [DIGEST] : [])];
      const sealed: Sealed = [userId, names, locale, Math.floor(at.getTime() / 1_000)];
      const text = Buffer.concat([cipher.update(JSON.stringify(sealed)), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url');
    },
    open(text) {
      const bytes = Buffer.from(text.slice(0, MAX_LENGTH), 'base64url');
      // Accept only the canonical spelling: the decoder would skip unknown characters.
      if (bytes.length <= NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== text) return null;
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES));
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      try {
        const opened = [decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()];
        const [userId, names, locale, seconds] = JSON.parse(Buffer.concat(opened).toString()) as Sealed;
        return {
          ...{ userId, locale, at: new Date(seconds * 1_000) },
          kinds: NOTIFICATION_KINDS.filter((kind) => names.includes(kind)),
          hasDigest: names.includes(DIGEST),
        };
      } catch {
        return null;
      }
    },
  };
}
