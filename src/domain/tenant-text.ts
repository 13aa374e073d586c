import { TENANT_SEPARATOR, type Tenant } from './tenant.ts';

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
