import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Core } from '../../../src/core/core.ts';
import { validate } from '../../../src/core/validate.ts';
import { lineSchema } from '../../../src/descriptors/text-schema.ts';
import { FanfareError } from '../../../src/domain/errors.ts';
import type { UserId } from '../../../src/domain/action.ts';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';
import { sessionBatches } from '../../../src/feed/session/session-batches.ts';
import { clock } from '../../../src/lib/clock.ts';
import { keptFeedsOf } from './kept-feeds.ts';
import { digestOf, feedKeysRepository, type FeedKey } from './store.ts';

declare module '../../../src/core/core.ts' {
  interface Core {
    /** Address of the server, at which feed readers get feeds; `null`: there are none for them. */
    readonly syndicationUrl?: string | null;
  }
}

/** Upper bound on keys of one member; concurrent calls may exceed it by one each. */
export const MAX_FEED_KEYS = 20;
const MAX_NAME_LENGTH = 100;
const KEY_BYTES = 32;

const nameSchema = z.object({ name: lineSchema(MAX_NAME_LENGTH) });

/** A key with the address that contains it, which nobody is shown again. */
interface NewFeedKey {
  readonly key: FeedKey;
  readonly url: string;
}

/** @throws FanfareError BAD_USER_INPUT; CONFLICT beyond the limit, or if the server has no feeds for readers */
export async function createFeedKey(core: Core, session: ReaderSession, name: string): Promise<NewFeedKey> {
  const { syndicationUrl = null, collections } = core;
  if (syndicationUrl === null)
    throw new FanfareError('CONFLICT', 'The server has no feeds for feed readers: SYNDICATION is off');
  const given = validate(nameSchema, { name });
  const { userId } = session.identity;
  const keys = feedKeysRepository(collections);
  if ((await keys.count(userId, MAX_FEED_KEYS)) === MAX_FEED_KEYS)
    throw new FanfareError('CONFLICT', `No more than ${String(MAX_FEED_KEYS)} keys can exist: revoke one`);
  const secret = randomBytes(KEY_BYTES).toString('base64url');
  const key = { digest: digestOf(secret), userId, ...given, createdAt: clock.now(), usedAt: null };
  await keys.add(key);
  return { key, url: `${syndicationUrl}/feeds/me.atom?key=${secret}` };
}

/** Idempotent. In this process it opens nothing from now on; in others, for as long as they keep what they read. */
export async function revokeFeedKey(core: Core, session: ReaderSession, digest: string): Promise<void> {
  const { userId } = session.identity;
  await feedKeysRepository(core.collections).remove(userId, digest);
  keptFeedsOf(core).forget(digest);
}

/** However often an operation asks for them, they are read once. */
const keysOf = sessionBatches<UserId, FeedKey[]>(
  ({ collections }, _session, userIds) =>
    Promise.all(userIds.map((userId) => feedKeysRepository(collections).of(userId))),
  (userId) => userId,
);

/** Newest first. */
export function readFeedKeys(core: Core, session: ReaderSession): Promise<FeedKey[]> {
  return keysOf(core, session, session.identity.userId);
}
