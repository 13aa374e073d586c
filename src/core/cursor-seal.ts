import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { UserId } from '../domain/action.ts';
import { tenantOf, type Tenant } from '../domain/stored-id.ts';

/** Converts cursors to the form given to clients and back. Both forms are base64url. */
export interface CursorSeal {
  /** The cursor in the form given to this member. */
  shown(userId: UserId, cursor: string): string;
  /** The cursor a client returned; an empty text, invalid in every list, if it was not issued to their tenant. */
  given(userId: UserId, text: string): string;
}

export const UNSEALED: CursorSeal = { shown: (_userId, cursor) => cursor, given: (_userId, text) => text };

const TAG_BYTES = 16;
const KEY_BYTES = 32;
/** Not a valid cursor of any list. */
const NO_CURSOR = '';

/**
 * Encrypts cursors and authenticates them together with the tenant: a cursor works only in its tenant and reveals neither
 * its owner, nor its position, nor the activity of others. Deterministic: the tag over tenant and cursor is the
 * initialisation vector, as in SIV modes.
 * @param key the same in all processes
 */
export function cursorSeal(key: Uint8Array): CursorSeal {
  const [tagKey, textKey] = ['fanfare cursor tags', 'fanfare cursor texts'].map((purpose) =>
    Buffer.from(hkdfSync('sha256', key, '', purpose, KEY_BYTES)),
  ) as [Buffer, Buffer];
  const tagOf = (tenant: Tenant, cursor: Buffer): Buffer =>
    createHmac('sha256', tagKey).update(`${tenant}\0`).update(cursor).digest().subarray(0, TAG_BYTES);
  return {
    shown(userId, text) {
      const tenant = requiredTenant(userId);
      // There is no position yet, such as before the first event.
      if (text === NO_CURSOR) return text;
      const cursor = Buffer.from(text, 'base64url');
      const tag = tagOf(tenant, cursor);
      const cipher = createCipheriv('aes-256-ctr', textKey, tag);
      return Buffer.concat([tag, cipher.update(cursor), cipher.final()]).toString('base64url');
    },
    given(userId, text) {
      const tenant = requiredTenant(userId);
      const bytes = Buffer.from(text, 'base64url');
      // Accept only the canonical spelling: the decoder would skip unknown characters.
      if (bytes.length <= TAG_BYTES || bytes.toString('base64url') !== text) return NO_CURSOR;
      const tag = bytes.subarray(0, TAG_BYTES);
      const decipher = createDecipheriv('aes-256-ctr', textKey, tag);
      const cursor = Buffer.concat([decipher.update(bytes.subarray(TAG_BYTES)), decipher.final()]);
      return timingSafeEqual(tagOf(tenant, cursor), tag) ? cursor.toString('base64url') : NO_CURSOR;
    },
  };
}

function requiredTenant(userId: UserId): Tenant {
  const tenant = tenantOf(userId);
  if (tenant === null) throw new Error('Tenants are on, and the reader of a cursor has none');
  return tenant;
}
