import type { Config } from '../config/config.ts';
import { isTenantName, TENANT_FORM, type Tenant } from '../domain/stored-id.ts';
import { Acting } from '../features/stored-input.ts';
import { CommandError } from './context.ts';

export interface ActingOptions {
  readonly tenant?: string | undefined;
}

/** @throws CommandError when the tenant is missing, or given although tenants are off. */
export function actingFor({ auth }: Config, { tenant }: ActingOptions): Acting {
  return new Acting(tenantFor(auth, tenant));
}

/**
 * Tenant of a command; `null`: tenants are off.
 * @throws CommandError when it is missing, or given although tenants are off.
 */
export function tenantFor(auth: Config['auth'], given: string | undefined): Tenant | null {
  if (given !== undefined && !isTenantName(given))
    throw new CommandError(`--tenant got "${String(given)}", expected ${TENANT_FORM}`);
  if (auth.tenantClaim === undefined && given !== undefined)
    throw new CommandError('--tenant is given, but TENANT_CLAIM is not set');
  if (auth.tenantClaim !== undefined && given === undefined)
    throw new CommandError('--tenant <name> is missing: TENANT_CLAIM is set');
  return given ?? null;
}
