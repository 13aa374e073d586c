import type { UserId } from '../domain/action.ts';
import { FanfareError } from '../domain/errors.ts';
import { idRangeOf, tenantOf, type Tenant } from '../domain/stored-id.ts';
import { isTrusted, type Identity } from '../domain/viewer.ts';
import type { Repositories } from '../storage/repositories.ts';

/** Quotas per tenant. Commands and processes without the API are not limited. */
export interface Quotas {
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

export const NO_QUOTAS: Quotas = { members: null, publications: null };

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
  { publications }: Quotas,
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
