import { FEED_INDEXES, RETIRED_FEED_INDEXES } from '../feeds/registry.ts';
import { descriptorIndexes } from '../storage/indexes/descriptor-indexes.ts';
import type { IndexDefinition, RetiredIndex } from '../storage/indexes/index-definition.ts';
import { INDEXES, RETIRED_INDEXES } from '../storage/indexes/index-definitions.ts';
import { TENANT_INDEXES } from '../storage/indexes/tenant-indexes.ts';

/** All indexes, including those of feed models and of this process's types. @param options.hasTenants default false. */
export function allIndexes({ hasTenants = false } = {}): readonly IndexDefinition[] {
  const ofTenants = hasTenants ? TENANT_INDEXES : [];
  return [...INDEXES, ...ofTenants, ...descriptorIndexes(), ...FEED_INDEXES];
}

/** Indexes of earlier releases, starting with PUBLISHED_SINCE, that are no longer needed. */
export const ALL_RETIRED_INDEXES: readonly RetiredIndex[] = [...RETIRED_INDEXES, ...RETIRED_FEED_INDEXES];
