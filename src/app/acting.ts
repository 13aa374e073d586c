import type { Config } from '../config/config.ts';
import { isTenantName, storedId, TENANT_FORM, type Tenant } from '../domain/tenant.ts';
import { withoutTenantIn } from '../domain/tenant-text.ts';
import type { Identity, Role } from '../domain/viewer.ts';
import { storedInput } from '../services/tenants/stored-input.ts';

const SERVICE = 'service';
const SERVICE_ROLES: readonly Role[] = ['user', 'service'];

/** Who the process itself acts as, and in which tenant: ids get it on their way in, and lose it on their way out. */
export class Acting {
  readonly #tenant: Tenant | null;
  readonly #hasTenants: boolean;

  /** @throws Error where the tenant has no usable name, or tenants are off. */
  constructor({ auth }: Pick<Config, 'auth'>, tenant: string | undefined) {
    this.#hasTenants = auth.tenantClaim !== undefined;
    if (tenant !== undefined && !this.#hasTenants)
      throw new Error('tenant is given, and TENANT_CLAIM is not set');
    if (tenant !== undefined && !isTenantName(tenant))
      throw new Error(`tenant is "${String(tenant)}", expected ${TENANT_FORM}`);
    this.#tenant = tenant ?? null;
  }

  /** @throws Error where there are tenants, and none was given. */
  check(): void {
    if (this.#hasTenants && this.#tenant === null)
      throw new Error('TENANT_CLAIM is set: createFanfare needs the option tenant');
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
