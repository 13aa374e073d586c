import { idRangeOf, type Tenant } from '../../domain/tenant.ts';

/** Filter for documents whose `_id` is an application id: those of a tenant; `null`: all. */
export function idsOfTenant(tenant: Tenant | null): {
  readonly _id?: { readonly $gte: string; readonly $lt: string };
} {
  if (tenant === null) return {};
  const { from, before } = idRangeOf(tenant);
  return { _id: { $gte: from, $lt: before } };
}
