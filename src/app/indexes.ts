import { FEED_INDEXES } from '../feeds/registry.ts';
import { descriptorIndexes } from '../storage/descriptor-indexes.ts';
import type { IndexDefinition } from '../storage/index-definition.ts';
import { INDEXES } from '../storage/index-definitions.ts';

/** Every index of the database, whatever the feed model, with those of the types of actions of this process. */
export function allIndexes(): readonly IndexDefinition[] {
  return [...INDEXES, ...descriptorIndexes(), ...FEED_INDEXES];
}
