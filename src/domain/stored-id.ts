/** The separator as `JSON.stringify` escapes it. */
const WRITTEN_SEPARATOR = String.raw`\u001f`;

/** A text with the tenant prefix removed from its ids: the form the host application uses. */
export function withoutTenant(tenant: Tenant, text: string): string {
  if (!text.includes(TENANT_SEPARATOR) && !text.includes(WRITTEN_SEPARATOR)) return text;
  return text.replaceAll(`${tenant}${TENANT_SEPARATOR}`, '').replaceAll(`${tenant}${WRITTEN_SEPARATOR}`, '');
}

/** Applies `withoutTenant` to all texts in lists and plain objects. Returns the same value when nothing changes. */
export function withoutTenantIn<T>(tenant: Tenant, value: T): T {
  return without(tenant, value) as T;
}

/** What a host is asked about somebody, with ids in its own form and the tenant beside them, if there is one. */
export function inHostForm<T extends object>(userId: string, what: T): T {
  const tenant = tenantOf(userId);
  return tenant === null ? what : { ...withoutTenantIn(tenant, what), tenant };
}

function without(tenant: Tenant, value: unknown): unknown {
  if (typeof value === 'string') return withoutTenant(tenant, value);
  if (Array.isArray(value)) return value.map((inner: unknown) => without(tenant, inner));
  if (typeof value !== 'object' || value === null || !isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, without(tenant, inner)]));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Tenant name in tokens, commands and the database: 1 to 63 characters of a-z and 0-9, with hyphens between them. */
export type Tenant = string;

export const TENANT_FORM = '1 to 63 characters of a-z, 0-9 and "-", not starting or ending with "-"';

/** Unit separator: cannot occur in a tenant name or in an id of the host application. */
export const TENANT_SEPARATOR = '\u001f';

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** The character right after the separator: upper bound for range scans over a tenant's ids. */
const BEHIND_SEPARATOR = ' ';

export function isTenantName(name: unknown): name is Tenant {
  return typeof name === 'string' && NAME.test(name);
}

/** The stored form of a host application's id. */
export function storedId(tenant: Tenant, id: string): string {
  return `${tenant}${TENANT_SEPARATOR}${id}`;
}

/** Tenant of a stored id; `null`: stored without tenants. */
export function tenantOf(id: string): Tenant | null {
  const end = id.indexOf(TENANT_SEPARATOR);
  return end < 0 ? null : id.slice(0, end);
}

/** The host application's form of a stored id. */
export function plainId(id: string): string {
  return id.slice(id.indexOf(TENANT_SEPARATOR) + 1);
}

/** An id in the same tenant as `stored`, or without a tenant if `stored` has none. */
export function idBeside(stored: string, id: string): string {
  const tenant = tenantOf(stored);
  return tenant === null ? id : storedId(tenant, id);
}

/** Whether two stored ids have the same tenant, or both none. What belongs to other tenants does not exist for a reader. */
export function areBeside(one: string, other: string): boolean {
  return tenantOf(one) === tenantOf(other);
}

/** A document that belongs to one tenant, or whose ids have none. */
export interface Beside {
  readonly tenant?: Tenant;
}

/** Whether the database may have data of others than the tenant of a stored id. */
export function hasNeighbours(id: string): boolean {
  return tenantOf(id) !== null;
}

/**
 * The field of documents in the same tenant as a stored id: part of a document, or of a filter. Empty without tenants, and for
 * `null`: everything.
 */
export function fieldBeside(id: string | null): Beside {
  const tenant = id === null ? null : tenantOf(id);
  return tenant === null ? {} : { tenant };
}

/** Range of a tenant's stored ids: `from` inclusive, `before` exclusive. */
export function idRangeOf(tenant: Tenant): { readonly from: string; readonly before: string } {
  return { from: storedId(tenant, ''), before: `${tenant}${BEHIND_SEPARATOR}` };
}

/** Filter for documents whose `_id` is an id of the host application: those in the same tenant as an id; `null`: all. */
export function idsBeside(id: string | null): {
  readonly _id?: { readonly $gte: string; readonly $lt: string };
} {
  const tenant = id === null ? null : tenantOf(id);
  if (tenant === null) return {};
  const { from, before } = idRangeOf(tenant);
  return { _id: { $gte: from, $lt: before } };
}

/** An expression of the database: what a stored id begins with that is not of the host application. Empty: nothing. */
export function besideIn(field: `$${string}`): object {
  const end = { $indexOfBytes: [field, TENANT_SEPARATOR] };
  return { $substrBytes: [field, 0, { $add: [end, 1] }] };
}
