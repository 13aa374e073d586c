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
 * All of a member's traces outside of feeds. Each method processes one bounded batch and returns the number found: repeat
 * until it is 0. Safe to interrupt anywhere and to repeat.
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
