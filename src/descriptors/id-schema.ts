import { z } from 'zod';
import { isTenantName, plainId, tenantOf } from '../domain/stored-id.ts';

/** Maximum length of a user, ref or object id, in characters. */
export const MAX_ID_LENGTH = 256;

/** Fast path: printable ASCII needs no further check. */
const USUAL = /^[\x20-\x7e]*$/;

let areTenantsServed = false;

/** Lets ids in this process carry a tenant prefix from now on. */
export function acceptStoredIds(): void {
  areTenantsServed = true;
}

/** An id given by the host application: 1 to 256 characters, no control characters. */
const plainIdSchema = z
  .string()
  .min(1, 'Must not be empty')
  .max(MAX_ID_LENGTH, { error: `Must be at most ${String(MAX_ID_LENGTH)} characters`, abort: true })
  .regex(/^\P{Cc}*$/u, 'Must not contain control characters')
  .refine((value) => value.isWellFormed(), 'Must be well-formed Unicode');

/** An id as services receive it: with a tenant prefix, added at the edge, when tenants are on. */
export const idSchema = z.string().superRefine((value, context) => {
  const isStored = areTenantsServed && isTenantName(tenantOf(value));
  const id = isStored ? plainId(value) : value;
  if (id.length > 0 && id.length <= MAX_ID_LENGTH && USUAL.test(id)) return;
  const { error } = plainIdSchema.safeParse(id);
  for (const { message } of error?.issues ?? []) context.addIssue({ code: 'custom', message });
});
