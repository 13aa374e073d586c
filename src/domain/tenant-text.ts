import { TENANT_SEPARATOR, type Tenant } from './tenant.ts';

/** As `JSON.stringify` writes the separator into a message. */
const WRITTEN_SEPARATOR = String.raw`\u001f`;

/** A text as the host application has it: without the tenant before its own ids. */
export function withoutTenant(tenant: Tenant, text: string): string {
  if (!text.includes(TENANT_SEPARATOR) && !text.includes(WRITTEN_SEPARATOR)) return text;
  return text.replaceAll(`${tenant}${TENANT_SEPARATOR}`, '').replaceAll(`${tenant}${WRITTEN_SEPARATOR}`, '');
}

/** The same for all texts in lists and plain objects. What holds none is given back as it is. */
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
