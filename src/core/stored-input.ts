import { descriptorOfInput, descriptorTypes } from '../descriptors/registry.ts';
import { storedId, type Tenant, tenantOf, withoutTenantIn } from '../domain/stored-id.ts';
import type { Identity } from '../domain/viewer.ts';

/**
 * Names of input properties that contain application ids, single or in a list. A property with one of these names is an id
 * in every input; a test checks that each text of the API is either listed here or known not to be an id.
 */
export const HOST_ID_NAMES: ReadonlySet<string> = new Set([
  'memberId',
  'refId',
  'refIds',
  'actorId',
  'actorIds',
  'followerId',
  'mentions',
  'recipients',
  'teamId',
  'departmentId',
  'supervisorId',
]);

/** Lists of objects with an `id`. */
const REFS = 'refs';
const DESCRIPTOR = 'descriptor';
/** Free JSON: not converted. */
const DATA = 'data';

/** The work of a process for one tenant. `null`: there are no tenants, and nothing is converted. */
export class Acting {
  readonly #tenant: Tenant | null;

  constructor(tenant: Tenant | null) {
    this.#tenant = tenant;
  }

  as(identity: Identity): Identity {
    return this.#tenant === null
      ? identity
      : { ...identity, userId: storedId(this.#tenant, identity.userId) };
  }

  stored<I>(input: I): I {
    return this.#tenant === null ? input : storedInput(this.#tenant, input);
  }

  /** In the form of the host application. */
  shown<O>(output: O): O {
    return this.#tenant === null ? output : withoutTenantIn(this.#tenant, output);
  }
}

/** The same for the tenant of a stored id; the input itself if that has none. */
export function inputBeside<T>(id: string, input: T): T {
  const tenant = tenantOf(id);
  return tenant === null ? input : storedInput(tenant, input);
}

type Input = Readonly<Record<string, unknown>>;

/**
 * Converts arguments to the form services expect: with the tenant prefix on every application id. The only place that adds
 * it, for API, library and commands alike. Global ids and cursors are not converted.
 */
export function storedInput<T>(tenant: Tenant, input: T): T {
  return convert(tenant, input) as T;
}

function convert(tenant: Tenant, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((inner: unknown) => convert(tenant, inner));
  if (!isInput(value)) return value;
  return mapped(value, (name, inner) => {
    if (HOST_ID_NAMES.has(name)) return ids(tenant, inner);
    if (name === DATA) return inner;
    if (name === DESCRIPTOR && isInput(inner)) return descriptor(tenant, inner);
    if (name === REFS && Array.isArray(inner)) return inner.map((ref: unknown) => refOf(tenant, ref));
    return convert(tenant, inner);
  });
}

function ids(tenant: Tenant, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((inner: unknown) => ids(tenant, inner));
  return typeof value === 'string' ? storedId(tenant, value) : value;
}

function refOf(tenant: Tenant, ref: unknown): unknown {
  return isInput(ref) ? mapped(ref, (name, inner) => (name === 'id' ? ids(tenant, inner) : inner)) : ref;
}

/** A descriptor, or a filter on one of its fields. */
function descriptor(tenant: Tenant, value: Input): Input {
  const { field, value: wanted } = value;
  if (typeof field === 'string' && typeof wanted === 'string')
    return isIdField(field) ? { ...value, value: storedId(tenant, wanted) } : value;
  return mapped(value, (name, body) => {
    const fields = descriptorOfInput(name)?.fields;
    if (fields === undefined || !isInput(body)) return body;
    return mapped(body, (key, inner) => (fields[key]?.kind === 'id' ? ids(tenant, inner) : inner));
  });
}

/** Whether a filterable field contains ids; fields of several types may share its name. */
function isIdField(name: string): boolean {
  return descriptorTypes().some(({ fields }) => fields[name]?.kind === 'id');
}

function isInput(value: unknown): value is Input {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function mapped(input: Input, change: (name: string, value: unknown) => unknown): Input {
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, change(name, value)]));
}
