import { hash } from 'node:crypto';
import type { Action } from '../domain/action.ts';
import { tenantOf, type Tenant } from '../domain/tenant.ts';
import { descriptorOfType } from './registry.ts';

/** Bytes of a key: enough that no two groups share one. */
const KEY_BYTES = 16;

type GroupedFields = Pick<Action, 'actorId' | 'descriptor' | 'conducted'>;

/**
 * The key to store with an action: what it has in common with those it is shown with. Reads go by the stored one, so a type
 * that is declared otherwise later groups what comes then.
 *
 * It is made of their tenant, their type, the fields that it names, and the day they were conducted on, in UTC. Null where the
 * type is shown one by one. It names nobody.
 */
export function groupKeyOf(action: GroupedFields): string | null {
  return keyOf(action, tenantOf(action.actorId));
}

/** The key from before groups were of one tenant: the same in all of them. */
export function groupKeyAcrossTenants(action: GroupedFields): string | null {
  return keyOf(action, null);
}

function keyOf({ descriptor, conducted }: GroupedFields, tenant: Tenant | null): string | null {
  const fields = descriptorOfType(descriptor.type)?.group ?? [];
  if (fields.length === 0) return null;
  const values = fields.map((field) => descriptor[field] ?? null);
  const day = conducted.toISOString().slice(0, 10);
  // Fields may be texts alone, which are the same in all tenants.
  const content = JSON.stringify([...(tenant === null ? [] : [{ tenant }]), descriptor.type, day, ...values]);
  return hash('sha256', content, 'buffer').subarray(0, KEY_BYTES).toString('base64url');
}

/** The group an action is shown in: a group of its own where it has no key. */
export function groupOf({ groupKey, id }: Pick<Action, 'id' | 'groupKey'>): string {
  return groupKey ?? id;
}
