import type { DescriptorField, DescriptorType } from '../../src/descriptors/define.ts';

function sampleOf(name: string, field: DescriptorField): unknown {
  switch (field.kind) {
    case 'number':
      return field.min;
    case 'boolean':
      return true;
    case 'dateTime':
      return new Date(0);
    case 'enum':
      return field.values[0];
    case 'json':
      return { free: true };
    case 'media':
      return [{ url: `https://pictures.example/${name}.jpg`, alt: `the ${name}`, kind: 'PICTURE' }];
    case 'id':
    case 'nameOf':
    case 'text':
      return `the ${name}`;
  }
}

/** A value for every field of a descriptor type, each with the field's name in it where that fits. */
export function sampleDescriptor({ fields }: DescriptorType): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, sampleOf(name, field)]));
}
