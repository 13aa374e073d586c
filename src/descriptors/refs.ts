import type { ActionRef, StoredDescriptor, UserId } from '../domain/action.ts';
import { plainId } from '../domain/tenant.ts';
import { descriptorOfType } from './registry.ts';

/** The refs that an action has for what its descriptor says, each id once. One without a name is called by its id. */
export function refsOfDescriptor(descriptor: StoredDescriptor): ActionRef[] {
  const refs = new Map<string, ActionRef>();
  for (const { name, type, label } of descriptorOfType(descriptor.type)?.refFields ?? []) {
    const id = descriptor[name];
    if (typeof id !== 'string' || refs.has(id)) continue;
    const said = descriptor[label];
    refs.set(id, { id, type, label: typeof said === 'string' && said !== '' ? said : plainId(id) });
  }
  return [...refs.values()];
}

/** The people whom an action concerns for what its descriptor says, each once. */
export function concernedByDescriptor(descriptor: StoredDescriptor): UserId[] {
  const ids = (descriptorOfType(descriptor.type)?.concernedFields ?? []).flatMap((name) => {
    const id = descriptor[name];
    return typeof id === 'string' ? [id] : [];
  });
  return [...new Set(ids)];
}
