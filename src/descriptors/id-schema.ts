import { z } from 'zod';
import { isTenantName, plainId, tenantOf } from '../domain/tenant.ts';

/** Longest id of a user, a ref or an object, in characters. */
export const MAX_ID_LENGTH = 256;

/** What most ids are made of: nothing needs a closer look. */
const USUAL = /^[\x20-\x7e]*$/;

let areTenantsServed = false;

/** From now on ids in this process may be stored ids, with a tenant before them. */
export function acceptStoredIds(): void {
  areTenantsServed = true;
}

/** An id of the host application as it came from there: 1 to 256 characters, no control characters. */
const plainIdSchema = z
  .string()
  .min(1, 'Must not be empty')
  .max(MAX_ID_LENGTH, `Must be at most ${String(MAX_ID_LENGTH)} characters`)
  .regex(/^\P{Cc}*$/u, 'Must not contain control characters')
  .refine((value) => value.isWellFormed(), 'Must be well-formed Unicode');

/** An id as services are given it: where tenants are served, with the tenant that the edge has put before it. */
export const idSchema = z.string().superRefine((value, context) => {
  const isStored = areTenantsServed && isTenantName(tenantOf(value));
  const id = isStored ? plainId(value) : value;
  if (id.length > 0 && id.length <= MAX_ID_LENGTH && USUAL.test(id)) return;
  const { error } = plainIdSchema.safeParse(id);
  for (const { message } of error?.issues ?? []) context.addIssue({ code: 'custom', message });
});
