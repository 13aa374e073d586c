import { indexedFields } from '../../descriptors/registry.ts';
import { index, type IndexDefinition } from './index-definition.ts';

export function descriptorIndexes(): IndexDefinition[] {
  return indexedFields().map((field) =>
    index(
      'actions',
      `descriptor_${field}_newest`,
      { [`descriptor.${field}`]: 1, _id: -1 },
      `actions by ${field}, newest first`,
      { partialFilterExpression: { [`descriptor.${field}`]: { $exists: true } } },
    ),
  );
}
