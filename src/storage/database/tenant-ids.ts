import { idRangeOf, type Tenant } from '../../domain/tenant.ts';

/** A filter for documents whose `_id` is an id of the host application: those of a tenant; null: all. */
export function idsOfTenant(tenant: Tenant | null): {
  readonly _id?: { readonly $gte: string; readonly $lt: string };
} {
  if (tenant === null) return {};
  const { from, before } = idRangeOf(tenant);
  return { _id: { $gte: from, $lt: before } };
}
