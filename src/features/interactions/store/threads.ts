import type { ObjectId } from 'mongodb';
import type { UserId } from '../../../domain/action.ts';
import { gathered } from '../../../lib/gathered.ts';
import { retryOnDuplicateKey } from '../../../storage/database/errors.ts';
import type { Collections, Declared } from '../../../storage/documents/declaration.ts';
import {
  newestIndex,
  readerActions,
  type ReaderActionId,
} from '../../../storage/documents/reader-action-id.ts';

declare module '../../../storage/documents/declaration.ts' {
  interface Documents {
    readonly threads: ThreadDocument;
  }
}

/** Says where to look, not what is there: written before the comment, and kept when that is hidden or removed. */
export interface ThreadDocument {
  _id: ReaderActionId;
  /** No comment to the member is later. */
  at: Date;
  /** No fewer comments mention them. */
  mentions?: number;
  /** No fewer comments are replies to them. */
  replies?: number;
}

export const THREADS: Declared<'threads'> = {
  ...readerActions('threads', {
    holds: 'an action with comments to a member: the time of the latest, and at most how many there are',
    indexes: [newestIndex('notifications: actions with comments to a member, the latest first')],
    serves: 'the actions with comments to a member',
    entry: ({ at }) => ({ at }),
  }),
  export: { because: 'follows from the comments' },
};

/** A comment that concerns a member. */
export interface ThreadChange {
  readonly userId: UserId;
  readonly actionId: ObjectId;
  readonly of: 'mentions' | 'replies';
  readonly at: Date;
}

const AT_ONCE = 100;

/** Notes that there are comments to members. One command for calls at the same time. */
export function threadNotes({ threads }: Pick<Collections, 'threads'>) {
  const note = gathered(
    async (changes: readonly ThreadChange[]) => {
      const operations = changes.map(({ userId, actionId, of, at }) => ({
        updateOne: {
          filter: { _id: { userId, actionId } },
          update: { $max: { at }, $inc: { [of]: 1 } },
          upsert: true,
        },
      }));
      await retryOnDuplicateKey(() => threads.bulkWrite(operations, { ordered: false }));
    },
    { most: AT_ONCE },
  );
  return async (changes: readonly ThreadChange[]): Promise<void> => {
    await Promise.all(changes.map(note));
  };
}
