import type { Config } from '../config/config.ts';
import type { RedisParts } from '../connections/redis-parts.ts';
import { Windows, type Share, type WindowPart } from '../http/limits/windows.ts';
import type { PublicationQuota, TenantQuotas } from '../services/tenants/quotas.ts';

export function quotasOf({ tenants }: Config, redis: RedisParts | null): TenantQuotas {
  const { members, publications } = tenants;
  if (publications === null) return { members, publications };
  const share = { points: publications.points, seconds: publications.perMs / 1_000 };
  return { members, publications: publicationQuota(share, redis?.parts) };
}

/** Rejected publications and replays are given back. */
export function publicationQuota(share: Share, parts?: readonly WindowPart[]): PublicationQuota {
  const windows = new Windows('publications', share, parts);
  return {
    take: (tenant, holder, points) => windows.take({ key: tenant, holder, points, isPartial: true }),
  };
}
