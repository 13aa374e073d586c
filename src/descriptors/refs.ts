import type { ActionRef, StoredDescriptor, UserId } from '../domain/action.ts';
import { plainId } from '../domain/tenant.ts';
import { descriptorOfType } from './registry.ts';

/** Refs that follow from a descriptor, without duplicates. A ref without a name gets its id as label. */
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

/** People the descriptor concerns, without duplicates. */
export function concernedByDescriptor(descriptor: StoredDescriptor): UserId[] {
  const ids = (descriptorOfType(descriptor.type)?.concernedFields ?? []).flatMap((name) => {
    const id = descriptor[name];
    return typeof id === 'string' ? [id] : [];
  });
  return [...new Set(ids)];
}
