import { actionTraces } from './action-traces.ts';
import type { DirectoryStampsRepository } from '../directory/directory-stamps.ts';
import { eventTraces } from './event-traces.ts';
import { followTraces } from './follow-traces.ts';
import { interactionTraces } from './interaction-traces.ts';
import type { Collections } from '../database/mongo.ts';
import { profileTraces } from './profile-traces.ts';
import { readerTraces } from './reader-traces.ts';

export type MemberTracesRepository = ReturnType<typeof profileTraces> &
  ReturnType<typeof followTraces> &
  ReturnType<typeof actionTraces> &
  ReturnType<typeof interactionTraces> &
  ReturnType<typeof readerTraces> &
  ReturnType<typeof eventTraces>;

/**
 * Everything outside a feed in which a member leaves a trace. Each method does one bounded batch and returns how much
 * it found: called again until that is 0, nothing is left. Cut off anywhere and repeated, each comes to the same end.
 */
export function memberTracesRepository(
  collections: Collections,
  directoryStamps: Pick<DirectoryStampsRepository, 'stamping'>,
): MemberTracesRepository {
  return {
    ...profileTraces(collections, directoryStamps),
    ...followTraces(collections),
    ...actionTraces(collections),
    ...interactionTraces(collections),
    ...readerTraces(collections),
    ...eventTraces(collections),
  };
}
