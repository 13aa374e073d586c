import { hash } from 'node:crypto';
import type { ActionId, StoredDescriptor, UserId } from '../domain/action.ts';
import { idBeside } from '../domain/stored-id.ts';
import { descriptorOfType } from './registry.ts';

/** Key length in bytes, long enough to rule out collisions. */
const KEY_BYTES = 16;

interface GroupedFields {
  readonly actorId: UserId;
  readonly descriptor: StoredDescriptor;
  readonly conducted: Date;
}

/**
 * Group key to store with an action; actions with equal keys are shown as one group. Hash of the type, the
 * fields named in the type's `group`, and the UTC day of `conducted`. `null` when the type is never grouped. Contains no
 * names.
 *
 * Reads use the stored key, so a changed declaration affects only actions recorded after the change.
 */
export function groupKeyOf({ actorId, descriptor, conducted }: GroupedFields): string | null {
  const fields = descriptorOfType(descriptor.type)?.group ?? [];
  if (fields.length === 0) return null;
  const values = fields.map((field) => descriptor[field] ?? null);
  const day = conducted.toISOString().slice(0, 10);
  // Beside the actor: equal texts of neighbours must not give equal keys.
  const content = JSON.stringify([idBeside(actorId, descriptor.type), day, ...values]);
  return hash('sha256', content, 'buffer').subarray(0, KEY_BYTES).toString('base64url');
}

/** The action's group; an action without a key forms a group of its own. */
export function groupOf({
  groupKey,
  id,
}: {
  readonly id: ActionId;
  readonly groupKey: string | null;
}): string {
  return groupKey ?? id;
}
