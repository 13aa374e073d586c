import type { UserId } from '../../domain/action.ts';
import { FanfareError } from '../../domain/errors.ts';
import { idRangeOf, tenantOf, type Tenant } from '../../domain/tenant.ts';
import { isTrusted, type Identity } from '../../domain/viewer.ts';
import type { Repositories } from '../../storage/repositories.ts';
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** Converts cursors to the form given to clients and back. Both forms are base64url. */
export interface CursorSeal {
  /** The cursor in the form given to this member. */
  shown(userId: UserId, cursor: string): string;
  /** The cursor a client returned; an empty text, invalid in every list, if it was not issued to their tenant. */
  given(userId: UserId, text: string): string;
}

/** Without tenants cursors are not sealed. */
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
  if (tenant === null) throw new Error('Tenants are on, and a cursor is for somebody without one');
  return tenant;
}

/** Quotas per tenant. Commands and processes without the API are not limited. */
export interface TenantQuotas {
  /** Maximum number of described members; `null`: unlimited. */
  readonly members: number | null;
  /** Limits new publications over all processes; `null`: unlimited. */
  readonly publications: PublicationQuota | null;
}

export interface PublicationQuota {
  /**
   * Takes the requested number, or as many as are left.
   * @param holder gets at most half of what others have left; `null`: may take all
   */
  take(tenant: Tenant, holder: UserId | null, count: number): Promise<TakenPublications>;
}

export interface TakenPublications {
  readonly granted: number;
  /** For everybody together. */
  readonly leftForAll: number;
  /** Milliseconds until more may be available. */
  readonly msLeft: number;
  /** Returns unused publications (replays and rejected ones). Does nothing after the end of the window. */
  readonly giveBack: (count: number) => Promise<void>;
}

export const NO_QUOTAS: TenantQuotas = { members: null, publications: null };

/** The part of a call that may be published. Disposing returns unused publications, also after a failure. */
export interface GrantedPublications extends AsyncDisposable {
  readonly granted: number;
  /** For every new action beyond the quota. */
  readonly refusal: FanfareError | null;
  /** Number of new actions among them. */
  recorded: number;
}

/** Takes publications from the tenant's quota. No round trip without a quota. */
export async function takePublications(
  { publications }: TenantQuotas,
  identity: Identity,
  count: number,
): Promise<GrantedPublications> {
  const { userId } = identity;
  const tenant = tenantOf(userId);
  if (publications === null || tenant === null || count === 0)
    return { granted: count, refusal: null, recorded: 0, [Symbol.asyncDispose]: () => Promise.resolve() };
  const { granted, leftForAll, msLeft, giveBack } = await publications.take(
    tenant,
    isTrusted(identity) ? null : userId,
    count,
  );
  const seconds = String(Math.max(1, Math.ceil(msLeft / 1_000)));
  const quota: GrantedPublications = {
    granted,
    recorded: 0,
    refusal:
      granted === count
        ? null
        : new FanfareError(
            'RATE_LIMITED',
            `Too many publications ${leftForAll > 0 ? "for one user's part of the tenant's limit" : 'of the tenant'}, try again in ${seconds} s`,
          ),
    async [Symbol.asyncDispose]() {
      if (quota.recorded < granted) await giveBack(granted - quota.recorded);
    },
  };
  return quota;
}

/** The new actions that are too many. Those with the same key become one action, so they use one publication. */
export function beyondGrant<T extends { readonly actor: string; readonly idempotencyKey: string | null }>(
  granted: number,
  unpublished: readonly T[],
): T[] {
  const byPublication = new Map<T | string, T[]>();
  for (const one of unpublished) {
    const publication = one.idempotencyKey === null ? one : JSON.stringify([one.actor, one.idempotencyKey]);
    byPublication.set(publication, [...(byPublication.get(publication) ?? []), one]);
  }
  return [...byPublication.values()].slice(granted).flat();
}

/**
 * Checks the quota of members. Processes that describe new members concurrently may exceed it by the size of one call each.
 * No round trip without a quota, or without new members.
 * @param added number of members not described yet
 * @throws FanfareError CONFLICT if the tenant would exceed its quota
 */
export async function checkMemberQuota(
  members: Repositories['members'],
  most: number | null,
  { userId }: Identity,
  added: number,
): Promise<void> {
  const tenant = tenantOf(userId);
  if (most === null || tenant === null || added === 0) return;
  const known = await members.countIn(idRangeOf(tenant), most + 1);
  if (known + added > most)
    throw new FanfareError('CONFLICT', `The tenant may have at most ${String(most)} members`);
}
