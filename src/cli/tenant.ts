import type { Config } from '../config/config.ts';
import { isTenantName, storedId, TENANT_FORM, type Tenant } from '../domain/tenant.ts';
import type { Identity } from '../domain/viewer.ts';
import { CommandError } from './context.ts';

/**
 * Tenant of a command; `null`: tenants are off.
 * @throws CommandError when it is missing, or given although tenants are off.
 */
export function tenantFor(
  { auth }: { readonly auth: Config['auth'] },
  given: string | undefined,
): Tenant | null {
  if (given !== undefined && !isTenantName(given))
    throw new CommandError(`--tenant got "${String(given)}", expected ${TENANT_FORM}`);
  if (auth.tenantClaim === undefined && given !== undefined)
    throw new CommandError('--tenant is given, but TENANT_CLAIM is not set');
  if (auth.tenantClaim !== undefined && given === undefined)
    throw new CommandError('--tenant <name> is missing: TENANT_CLAIM is set');
  return given ?? null;
}

export function actingIn(tenant: Tenant | null, identity: Identity): Identity {
  return tenant === null ? identity : { ...identity, userId: storedId(tenant, identity.userId) };
}
