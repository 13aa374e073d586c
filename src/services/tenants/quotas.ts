import { FanfareError } from '../../domain/errors.ts';
import { idRangeOf, tenantOf, type Tenant } from '../../domain/tenant.ts';
import type { Identity } from '../../domain/viewer.ts';
import type { MembersRepository } from '../../storage/directory/members.ts';

/** How much each tenant may have. What is done on the command line and in a process without the API is not counted. */
export interface TenantQuotas {
  /** Members who are described; null: as many as they like. */
  readonly members: number | null;
  /** Counts new publications, in all processes together; null: they are not limited. */
  readonly publications: PublicationQuota | null;
}

export interface PublicationQuota {
  /** Takes so many, or as many as there are left. */
  take(tenant: Tenant, count: number): Promise<TakenPublications>;
}

export interface TakenPublications {
  readonly granted: number;
  /** In how many milliseconds there may be more. */
  readonly msLeft: number;
  /** So many were none: they had been published before, or were refused. Does nothing after the end of the window. */
  readonly giveBack: (count: number) => Promise<void>;
}

export const NO_QUOTAS: TenantQuotas = { members: null, publications: null };

/** What of a call may be published. Disposing gives back what was not recorded, also where publishing has failed. */
export interface GrantedPublications extends AsyncDisposable {
  readonly granted: number;
  /** For every new one beyond. */
  readonly refusal: FanfareError | null;
  /** How many of them are new. */
  recorded: number;
}

/** Takes what somebody is about to publish from the share of their tenant. No round trip where there is no such quota. */
export async function takePublications(
  { publications }: Pick<TenantQuotas, 'publications'>,
  { userId }: Pick<Identity, 'userId'>,
  count: number,
): Promise<GrantedPublications> {
  const tenant = tenantOf(userId);
  if (publications === null || tenant === null || count === 0)
    return { granted: count, refusal: null, recorded: 0, [Symbol.asyncDispose]: () => Promise.resolve() };
  const { granted, msLeft, giveBack } = await publications.take(tenant, count);
  const seconds = String(Math.max(1, Math.ceil(msLeft / 1_000)));
  const quota: GrantedPublications = {
    granted,
    recorded: 0,
    refusal:
      granted === count
        ? null
        : new FanfareError('RATE_LIMITED', `Too many publications of the tenant, try again in ${seconds} s`),
    async [Symbol.asyncDispose]() {
      if (quota.recorded < granted) await giveBack(granted - quota.recorded);
    },
  };
  return quota;
}

/**
 * Processes that describe new members at the same moment may come above it together, by what each has in one call. No
 * round trip where there is no such quota, or nobody is new.
 * @param added how many are not described yet
 * @throws FanfareError CONFLICT where the tenant would have more members than it may
 */
export async function checkMemberQuota(
  {
    members,
    quotas,
  }: { readonly members: Pick<MembersRepository, 'countIn'>; readonly quotas: TenantQuotas },
  { userId }: Pick<Identity, 'userId'>,
  added: number,
): Promise<void> {
  const tenant = tenantOf(userId);
  const most = quotas.members;
  if (most === null || tenant === null || added === 0) return;
  const known = await members.countIn(idRangeOf(tenant), most + 1);
  if (known + added > most)
    throw new FanfareError('CONFLICT', `The tenant may have at most ${String(most)} members`);
}
