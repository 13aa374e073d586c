/** A tenant's name as tokens, the command line and the database have it: 1 to 63 of a-z, 0-9 and hyphens between them. */
export type Tenant = string;

export const TENANT_FORM = '1 to 63 of a-z, 0-9 and "-", neither first nor last a "-"';

/** Unit separator: no name and no id of the host application has it. */
export const TENANT_SEPARATOR = '\u001f';

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** The first character that is above the separator: ids of a tenant lie between the two. */
const BEHIND_SEPARATOR = ' ';

export function isTenantName(name: unknown): name is Tenant {
  return typeof name === 'string' && NAME.test(name);
}

/** An id of the host application as it is stored. */
export function storedId(tenant: Tenant, id: string): string {
  return `${tenant}${TENANT_SEPARATOR}${id}`;
}

/** Whose a stored id is; null: it was stored without tenants. */
export function tenantOf(id: string): Tenant | null {
  const end = id.indexOf(TENANT_SEPARATOR);
  return end < 0 ? null : id.slice(0, end);
}

/** A stored id as the host application has it. */
export function plainId(id: string): string {
  return id.slice(id.indexOf(TENANT_SEPARATOR) + 1);
}

/** Another id of the same tenant, or without one where the first is. */
export function idBeside(stored: string, id: string): string {
  const tenant = tenantOf(stored);
  return tenant === null ? id : storedId(tenant, id);
}

/** Whether two stored ids are of one tenant, or both of none. */
export function areOfOneTenant(one: string, other: string): boolean {
  return tenantOf(one) === tenantOf(other);
}

/** What a document says of its tenant, by a stored id in it; nothing where it was stored without tenants. */
export function tenantField(id: string): { readonly tenant?: Tenant } {
  const tenant = tenantOf(id);
  return tenant === null ? {} : { tenant };
}

/** Stored ids of a tenant: from the first to before the second. */
export function idRangeOf(tenant: Tenant): { readonly from: string; readonly before: string } {
  return { from: storedId(tenant, ''), before: `${tenant}${BEHIND_SEPARATOR}` };
}
