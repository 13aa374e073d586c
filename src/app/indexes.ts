import { FEED_INDEXES } from '../feeds/registry.ts';
import { INDEXES } from '../storage/index-definitions.ts';

/** Every index of the database, those of feed models that are not in use included: the choice may change. */
export const ALL_INDEXES = [...INDEXES, ...FEED_INDEXES];
