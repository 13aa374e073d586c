import type { DescriptorField, DescriptorType } from '../../src/descriptors/define.ts';

function sampleOf(name: string, field: DescriptorField): unknown {
  if (field.kind === 'number') return field.min;
  return field.kind === 'json' ? { free: true } : `the ${name}`;
}

/** A value for every field of a descriptor type, each with the field's name in it where that fits. */
export function sampleDescriptor({ fields }: DescriptorType): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, sampleOf(name, field)]));
}
