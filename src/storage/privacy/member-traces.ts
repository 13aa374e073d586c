import type { ObjectId } from 'mongodb';
import type { ErasureSubject } from '../../domain/erasure.ts';
import { actionTraces } from './action-traces.ts';
import type { DirectoryStampsRepository } from '../directory/directory-stamps.ts';
import { eventTraces } from './event-traces.ts';
import { followTraces } from './follow-traces.ts';
import { interactionTraces } from './interaction-traces.ts';
import type { Collections } from '../database/mongo.ts';
import type { Declaration } from '../documents/declaration.ts';
import { fieldOf } from '../documents/ids.ts';
import { profileTraces } from './profile-traces.ts';
import { readerTraces } from './reader-traces.ts';

export type MemberTracesRepository = ReturnType<typeof profileTraces> &
  ReturnType<typeof ownDocuments> &
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
  declarations: readonly Declaration[],
  directoryStamps: DirectoryStampsRepository,
): MemberTracesRepository {
  return {
    ...ownDocuments(collections, declarations),
    ...profileTraces(collections, directoryStamps),
    ...followTraces(collections),
    ...actionTraces(collections),
    ...interactionTraces(collections),
    ...readerTraces(collections),
    ...eventTraces(collections),
  };
}

/** Documents that are of nobody but the member. */
function ownDocuments({ members: { db } }: Collections, declarations: readonly Declaration[]) {
  const own = declarations.flatMap(({ name, ids, erase }) => {
    const [path] = ids.member ?? [];
    return erase === 'delete' && path !== undefined ? [[name, fieldOf(path)] as const] : [];
  });
  return {
    async removeOwn({ memberId }: ErasureSubject, limit: number): Promise<number> {
      for (const [name, field] of own) {
        const found = await db
          .collection(name)
          .find({ [field]: memberId })
          .project<{ _id: ObjectId }>({ _id: 1 })
          .limit(limit)
          .batchSize(limit)
          .toArray();
        if (found.length === 0) continue;
        await db.collection(name).deleteMany({ _id: { $in: found.map(({ _id }) => _id) } });
        return found.length;
      }
      return 0;
    },
  };
}
