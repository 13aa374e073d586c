import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { UserId } from '../../domain/action.ts';
import { tenantOf, type Tenant } from '../../domain/tenant.ts';

/** How cursors look outside, and back. Both are texts in base64url. */
export interface CursorSeal {
  /** A cursor as the client of this member is given it. */
  shown(userId: UserId, cursor: string): string;
  /** The cursor that a client gave back; an empty text, which is no cursor of any list, where their tenant was given no such. */
  given(userId: UserId, text: string): string;
}

/** Where there are no tenants: cursors are shown as they are. */
export const UNSEALED: CursorSeal = { shown: (_userId, cursor) => cursor, given: (_userId, text) => text };

const TAG_BYTES = 16;
const KEY_BYTES = 32;
/** What no list takes for a cursor. */
const NO_CURSOR = '';

/**
 * Cursors of tenants are encrypted with their tenant as part of what is checked, so that one is good in its tenant alone
 * and says nothing to anybody: neither whose it is, nor where in a list it lies, nor how much others do. The same cursor is
 * always written the same way: the tag over tenant and cursor is the start of the cipher (as SIV modes do it).
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
      // Where there is nothing to go on from, such as before the first event.
      if (text === NO_CURSOR) return text;
      const cursor = Buffer.from(text, 'base64url');
      const tag = tagOf(tenant, cursor);
      const cipher = createCipheriv('aes-256-ctr', textKey, tag);
      return Buffer.concat([tag, cipher.update(cursor), cipher.final()]).toString('base64url');
    },
    given(userId, text) {
      const tenant = requiredTenant(userId);
      const bytes = Buffer.from(text, 'base64url');
      // One spelling is true: the decoder alone would skip what it does not know.
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
  if (tenant === null) throw new Error('Tenants are on, and a cursor is for somebody without one');
  return tenant;
}
