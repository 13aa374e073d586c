import { ObjectId } from 'mongodb';
import type { InteractionDocument } from '../../src/storage/documents/documents.ts';
import type { Parts } from './parts.ts';

/** A comment that mentions a member, or replies to one of theirs. */
export interface CommentTo {
  readonly actionId: string;
  readonly of: 'mentions' | 'replies';
  readonly actorId: string;
  readonly at: Date;
  readonly state?: 'HIDDEN' | 'REMOVED';
}

const AT_ONCE = 5_000;

/** Comments to a member as they are recorded, very many at once and without their effects on feeds. */
export async function commentTo(
  { database: { collections } }: Parts,
  userId: string,
  comments: readonly CommentTo[],
): Promise<InteractionDocument[]> {
  const documents = comments.map(({ of, actionId, actorId, at, state }, n): InteractionDocument => ({
    ...{ _id: new ObjectId(), actionId: new ObjectId(actionId), key: `to-${userId}-${String(n)}` },
    ...{ kind: 'COMMENT', departmentIds: [], actorId, at, shownAt: at },
    ...(state === undefined ? {} : { state, stateAt: at }),
    to: [userId],
    ...(of === 'mentions' ? { mentions: [userId] } : { replyTo: userId }),
  }));
  for (let from = 0; from < documents.length; from += AT_ONCE)
    await collections.interactions.insertMany(documents.slice(from, from + AT_ONCE));
  await collections.threads.bulkWrite(
    [...new Set(comments.map(({ actionId }) => actionId))].map((actionId) => {
      const own = comments.filter((comment) => comment.actionId === actionId);
      const count = (of: CommentTo['of']): number => own.filter((comment) => comment.of === of).length;
      return {
        updateOne: {
          filter: { _id: { userId, actionId: new ObjectId(actionId) } },
          update: {
            $max: { at: new Date(Math.max(...own.map(({ at }) => at.getTime()))) },
            $inc: { mentions: count('mentions'), replies: count('replies') },
          },
          upsert: true,
        },
      };
    }),
  );
  return documents;
}
