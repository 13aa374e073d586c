import type { Config } from '../config/config.ts';
import { isTenantName, storedId, TENANT_FORM, type Tenant } from '../domain/tenant.ts';
import { withoutTenantIn } from '../domain/tenant-text.ts';
import type { Identity, Role } from '../domain/viewer.ts';
import { storedInput } from '../services/tenants/stored-input.ts';

const SERVICE = 'service';
const SERVICE_ROLES: readonly Role[] = ['user', 'service'];

/** The identity and tenant a process acts with. Adds the tenant to ids passed in and removes it from ids returned. */
export class Acting {
  readonly #tenant: Tenant | null;
  readonly #hasTenants: boolean;

  /** @throws Error when the tenant's name is invalid or tenants are off. */
  constructor({ auth }: Config, tenant: string | undefined) {
    this.#hasTenants = auth.tenantClaim !== undefined;
    if (tenant !== undefined && !this.#hasTenants)
      throw new Error('tenant is given, but TENANT_CLAIM is not set');
    if (tenant !== undefined && !isTenantName(tenant))
      throw new Error(`tenant is "${String(tenant)}", expected ${TENANT_FORM}`);
    this.#tenant = tenant ?? null;
  }

  /** @throws Error when tenants are on and none was given. */
  check(): void {
    if (this.#hasTenants && this.#tenant === null)
      throw new Error('TENANT_CLAIM is set: createFanfare requires the option tenant');
  }

  service(): Identity {
    return this.as(SERVICE, SERVICE_ROLES);
  }

  as(id: string, roles: readonly Role[]): Identity {
    const userId = this.#tenant === null ? id : storedId(this.#tenant, id);
    return { userId, roles: new Set(roles), expiresAt: null };
  }

  stored<I>(input: I): I {
    return this.#tenant === null ? input : storedInput(this.#tenant, input);
  }

  shown<O>(output: O): O {
    return this.#tenant === null ? output : withoutTenantIn(this.#tenant, output);
  }
}
