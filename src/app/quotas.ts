import type { Config } from '../config/config.ts';
import type { RedisParts } from '../connections/redis-parts.ts';
import { createPublicationQuota } from '../http/limits/publication-quota.ts';
import type { TenantQuotas } from '../services/tenants/quotas.ts';

export function quotasOf({ tenants }: Pick<Config, 'tenants'>, redis: RedisParts | null): TenantQuotas {
  const { members, publications } = tenants;
  if (publications === null) return { members, publications };
  const share = { points: publications.points, seconds: publications.perMs / 1_000 };
  return { members, publications: createPublicationQuota(share, redis?.parts ?? []) };
}
