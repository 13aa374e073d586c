import type { StoredDescriptor } from '../domain/action.ts';
import { descriptorOfType } from './registry.ts';

/** All ids in a descriptor, without duplicates; empty for unregistered types. */
export function idsOf(descriptor: StoredDescriptor): string[] {
  const fields = Object.entries(descriptorOfType(descriptor.type)?.fields ?? {});
  const ids = fields.flatMap(([name, field]) => {
    const value = descriptor[name];
    return field.kind === 'id' && typeof value === 'string' ? [value] : [];
  });
  return [...new Set(ids)];
}
