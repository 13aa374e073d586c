import type { DescriptorType, DescriptorValues } from './define.ts';
import { descriptorTypes, descriptorOfType } from './registry.ts';
import type { ActionRef, StoredDescriptor, UserId } from '../domain/action.ts';
import { plainId } from '../domain/stored-id.ts';

/** A descriptor field that copies the name belonging to another field of the same descriptor. */
export interface NamePath {
  readonly idField: string;
  readonly nameField: string;
  /** Descriptor types with this pair of fields. */
  readonly types: readonly string[];
}

/** Every place where descriptors copy names; renames must update all of them. */
export function namePathsOf(descriptors: readonly DescriptorType[] = descriptorTypes()): NamePath[] {
  const paths = new Map<string, { idField: string; nameField: string; types: string[] }>();
  for (const { type, fields } of descriptors) {
    for (const [nameField, field] of Object.entries(fields)) {
      if (field.kind !== 'nameOf') continue;
      const { idField } = field;
      const key = `${idField} ${nameField}`;
      const path = paths.get(key) ?? { idField, nameField, types: [] };
      path.types.push(type);
      paths.set(key, path);
    }
  }
  return [...paths.values()];
}

/** Ids whose names a descriptor copies, without duplicates; empty for unregistered types. */
export function namedIdsOf(descriptor: DescriptorValues & { readonly type: string }): string[] {
  const ids = new Set<string>();
  for (const field of Object.values(descriptorOfType(descriptor.type)?.fields ?? {})) {
    const id = field.kind === 'nameOf' ? descriptor[field.idField] : undefined;
    if (typeof id === 'string') ids.add(id);
  }
  return [...ids];
}

/** All names an action contains for an id: ref labels and names in the descriptor. */
export function namesIn(
  {
    refs,
    descriptor,
  }: {
    readonly refs: readonly { readonly id: string; readonly label: string }[];
    readonly descriptor: DescriptorValues & { readonly type: string };
  },
  id: string,
): string[] {
  const labels = refs.flatMap((ref) => (ref.id === id ? [ref.label] : []));
  const fields = Object.entries(descriptorOfType(descriptor.type)?.fields ?? {});
  const names = fields.flatMap(([name, field]) =>
    field.kind === 'nameOf' && descriptor[field.idField] === id ? [descriptor[name]] : [],
  );
  return [...labels, ...names.filter((name) => typeof name === 'string')];
}

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
  return idsIn(descriptor, descriptorOfType(descriptor.type)?.concernedFields ?? []);
}

/** People whom the descriptor says to notify, without duplicates. */
export function notifiedByDescriptor(descriptor: StoredDescriptor): UserId[] {
  return idsIn(descriptor, descriptorOfType(descriptor.type)?.notifiedFields ?? []);
}

function idsIn(descriptor: StoredDescriptor, fields: readonly string[]): UserId[] {
  const ids = fields.flatMap((name) => {
    const id = descriptor[name];
    return typeof id === 'string' ? [id] : [];
  });
  return [...new Set(ids)];
}
