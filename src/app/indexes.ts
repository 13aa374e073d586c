import { FEED_INDEXES, RETIRED_FEED_INDEXES } from '../feeds/registry.ts';
import { descriptorIndexes } from '../storage/indexes/descriptor-indexes.ts';
import type { IndexDefinition, RetiredIndex } from '../storage/indexes/index-definition.ts';
import { INDEXES, RETIRED_INDEXES } from '../storage/indexes/index-definitions.ts';
import { TENANT_INDEXES } from '../storage/indexes/tenant-indexes.ts';

/** Every index, those of feed models and this process's types too. @param options.hasTenants default no. */
export function allIndexes({ hasTenants = false } = {}): readonly IndexDefinition[] {
  const ofTenants = hasTenants ? TENANT_INDEXES : [];
  return [...INDEXES, ...ofTenants, ...descriptorIndexes(), ...FEED_INDEXES];
}

/** Every index that releases before have made and that nothing needs any more, from PUBLISHED_SINCE on. */
export const ALL_RETIRED_INDEXES: readonly RetiredIndex[] = [...RETIRED_INDEXES, ...RETIRED_FEED_INDEXES];
