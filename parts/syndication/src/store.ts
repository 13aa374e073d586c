import { createHash } from 'node:crypto';
import type { UserId } from '../../../src/domain/action.ts';
import {
  type Collections,
  type Declared,
  index,
  NOT_OF_ACTIONS,
} from '../../../src/storage/documents/declaration.ts';

/** A key by which a feed reader gets a member's feed. */
interface FeedKeyDocument {
  /** Digest of the key, which nobody can be shown again. */
  _id: string;
  userId: string;
  name: string;
  at: Date;
  /** The last use, to an hour. */
  usedAt?: Date;
}

declare module '../../../src/storage/documents/declaration.ts' {
  interface Documents {
    readonly feedKeys: FeedKeyDocument;
  }
}

export const FEED_KEYS: Declared<'feedKeys'> = {
  name: 'feedKeys',
  holds: "a key by which a feed reader gets a member's feed, as a digest",
  ids: { member: ['userId'] },
  indexes: [index('member', { userId: 1, at: -1 }, 'the keys of a member, the newest first')],
  shard: { because: 'found by key, not by member; a few per member' },
  erase: 'delete',
  export: [
    {
      section: 'feedKeys',
      of: 'userId',
      sort: { at: -1 },
      entry: ({ name, at, usedAt }) => ({ name, createdAt: at, usedAt: usedAt ?? null }),
    },
  ],
  action: NOT_OF_ACTIONS,
};

export interface FeedKey {
  readonly digest: string;
  readonly userId: UserId;
  readonly name: string;
  readonly createdAt: Date;
  readonly usedAt: Date | null;
}

/** Keys are random, so that a plain digest cannot be turned back. */
export function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

const USE_NOTED_EVERY_MS = 3_600_000;

/** Keys of feed readers. Unique key: `_id`. */
export function feedKeysRepository({ feedKeys }: Collections) {
  return {
    /** The keys of a member, the newest first. Index `member`. */
    async of(userId: UserId): Promise<FeedKey[]> {
      return (await feedKeys.find({ userId }).sort({ at: -1 }).toArray()).map(toFeedKey);
    },

    count: (userId: UserId, limit: number) => feedKeys.countDocuments({ userId }, { limit }),

    async add({ digest, userId, name, createdAt }: FeedKey): Promise<void> {
      await feedKeys.insertOne({ _id: digest, userId, name, at: createdAt });
    },

    async remove(userId: UserId, digest: string): Promise<void> {
      await feedKeys.deleteOne({ _id: digest, userId });
    },

    /** Whose key it is; `null`: nobody's, or no longer. Notes the use once an hour. One command, or two. */
    async use(digest: string, now: Date): Promise<UserId | null> {
      const key = await feedKeys.findOne({ _id: digest }, { projection: { userId: 1, usedAt: 1 } });
      if (key === null) return null;
      const { usedAt } = key;
      if (usedAt === undefined || now.getTime() - usedAt.getTime() > USE_NOTED_EVERY_MS)
        await feedKeys.updateOne({ _id: digest }, { $max: { usedAt: now } });
      return key.userId;
    },
  };
}

function toFeedKey({ _id, userId, name, at, usedAt }: FeedKeyDocument): FeedKey {
  return { digest: _id, userId, name, createdAt: at, usedAt: usedAt ?? null };
}
