import type { DescriptorType, DescriptorValues } from './define.ts';
import { descriptorTypes, descriptorOfType } from './registry.ts';

/** A descriptor field that holds the name of what another field of the same descriptor refers to. */
export interface NamePath {
  readonly idField: string;
  readonly nameField: string;
  /** The descriptor types that have the pair. */
  readonly types: readonly string[];
}

/** Everywhere a descriptor holds a copy of a name: what a rename has to reach. */
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

/** The ids whose names a descriptor holds, each once; none for a type that is not registered. */
export function namedIdsOf(descriptor: DescriptorValues & { readonly type: string }): string[] {
  const ids = new Set<string>();
  for (const field of Object.values(descriptorOfType(descriptor.type)?.fields ?? {})) {
    const id = field.kind === 'nameOf' ? descriptor[field.idField] : undefined;
    if (typeof id === 'string') ids.add(id);
  }
  return [...ids];
}

/** What an action calls somebody or something: by the labels of its refs, and by the names its descriptor holds. */
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
