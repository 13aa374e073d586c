import type { StoredDescriptor } from '../domain/action.ts';
import { descriptorOfType } from './registry.ts';

/** Every id that a descriptor holds, each once; none for a type that is not registered. */
export function idsOf(descriptor: StoredDescriptor): string[] {
  const fields = Object.entries(descriptorOfType(descriptor.type)?.fields ?? {});
  const ids = fields.flatMap(([name, field]) => {
    const value = descriptor[name];
    return field.kind === 'id' && typeof value === 'string' ? [value] : [];
  });
  return [...new Set(ids)];
}
