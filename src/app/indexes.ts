import { FEED_INDEXES } from '../feeds/registry.ts';
import { descriptorIndexes } from '../storage/indexes/descriptor-indexes.ts';
import type { IndexDefinition } from '../storage/indexes/index-definition.ts';
import { INDEXES } from '../storage/indexes/index-definitions.ts';
import { TENANT_INDEXES } from '../storage/indexes/tenant-indexes.ts';

/** All indexes, including those of feed models and of this process's types. @param options.hasTenants default false. */
export function allIndexes({ hasTenants = false } = {}): readonly IndexDefinition[] {
  const ofTenants = hasTenants ? TENANT_INDEXES : [];
  return [...INDEXES, ...ofTenants, ...descriptorIndexes(), ...FEED_INDEXES];
}
