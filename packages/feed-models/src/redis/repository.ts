import type { HoldersQuery } from '../../../../src/feeds/feed-store.ts';
import type { ActionId, UserId } from '../../../../src/domain/action.ts';
import {
  DELIVERY_REASONS,
  type DeliveryReason,
  type FeedEntry,
  type FeedPosition,
} from '../../../../src/domain/newsfeed-item.ts';
import type { EntryQuery, ReaderEntry } from '../../../../src/feeds/models/shared/entries.ts';
import {
  DELIVER_SCRIPT,
  DROP_SCRIPT,
  FILL_SCRIPT,
  FIND_SCRIPT,
  OPEN_FEED_SCRIPT,
  FEED_PAGE_SCRIPT,
  REMOVE_SCRIPT,
  TRIM_SCRIPT,
  VOUCH_SCRIPT,
} from './scripts.ts';
import { redisReach } from './reach.ts';
import type { RedisPart } from '../../../../src/connections/redis-parts.ts';

export interface RedisFeedsOptions {
  readonly cap: number;
  /** Lifetime of a feed from its first write. */
  readonly lifetimeMs: number;
}

export type RedisFeedChange = 'added' | 'raised' | 'none';

/** Entries per script: a script must not block the server for long. */
const BATCH = 250;

/**
 * Feeds as sorted sets; keys are described in `scripts.ts`. Rejects with StoreUnavailable while Redis is away (reads within
 * a second, see `reach.ts`), otherwise with the client's errors.
 */
export function redisFeedsRepository(
  { commands: client, prefix, isSharded }: Pick<RedisPart, 'commands' | 'prefix' | 'isSharded'>,
  { cap, lifetimeMs }: RedisFeedsOptions,
) {
  const reach = redisReach();
  // A cluster node refuses a script whose declared key is not in its slots; all other keys share the slot.
  const keys = isSharded ? [`${prefix}feed:`] : [];
  const evaluate = (script: string, args: readonly (string | number)[]): Promise<unknown> =>
    client.eval(script, keys.length, ...keys, prefix, lifetimeMs, cap, ...args);
  const run = (script: string, ...args: (string | number)[]): Promise<unknown> =>
    // EVAL instead of EVALSHA: a second attempt after NOSCRIPT could overtake a later write.
    reach.write(() => evaluate(script, args));
  const ask = (script: string, ...args: (string | number)[]): Promise<unknown> =>
    reach.read(() => evaluate(script, args));

  return {
    /** One change per reader, in order. One command per 250 readers, sent concurrently. */
    async deliver(actionId: ActionId, readers: readonly ReaderEntry[]): Promise<RedisFeedChange[]> {
      const replies = await Promise.all(
        batches(readers).map((batch) =>
          run(
            DELIVER_SCRIPT,
            actionId,
            ...batch.flatMap(({ userId, relevancy, reasons }) => [
              userId,
              relevancy.getTime(),
              bits(reasons),
            ]),
          ),
        ),
      );
      return replies.flatMap((reply) => texts(reply).map(toChange));
    },

    /** One change per entry, in order. One command per 250 entries. */
    async fill(userId: UserId, entries: readonly FeedEntry[]): Promise<RedisFeedChange[]> {
      const replies = await Promise.all(
        batches(entries).map((batch) =>
          run(
            FILL_SCRIPT,
            userId,
            ...batch.flatMap(({ actionId, relevancy, reasons }) => [
              actionId,
              relevancy.getTime(),
              bits(reasons),
            ]),
          ),
        ),
      );
      return replies.flatMap((reply) => texts(reply).map(toChange));
    },

    /** Records that a rebuild of the feed has started. */
    async open(userId: UserId): Promise<void> {
      await run(OPEN_FEED_SCRIPT, userId);
    },

    /** Declares the feed complete above the floor, provided it was opened before and not lost since. */
    async vouch(userId: UserId, floor: FeedPosition | null): Promise<void> {
      await run(VOUCH_SCRIPT, userId, ...place(floor));
    },

    async page(query: EntryQuery & { readonly userId: UserId }): Promise<{
      readonly entries: FeedEntry[];
      readonly floor: FeedPosition | null;
      readonly isVouchedFor: boolean;
    }> {
      const { userId, after, since, until, limit } = query;
      const reply = await ask(
        FEED_PAGE_SCRIPT,
        userId,
        ...place(after ?? null),
        since?.getTime() ?? '',
        until?.getTime() ?? '',
        limit,
      );
      const [trust, ms = '', id = '', ...rest] = texts(reply);
      return {
        entries: toEntries(rest),
        floor: ms === '' ? null : { relevancy: new Date(Number(ms)), actionId: id },
        isVouchedFor: trust === 'v',
      };
    },

    async find(userId: UserId, actionIds: readonly ActionId[]): Promise<FeedEntry[]> {
      return toEntries(texts(await ask(FIND_SCRIPT, userId, ...actionIds)));
    },

    /** The next readers who have the action, ordered by id; may include readers whose feed is lost. */
    someHolders(actionId: ActionId, { after = null, limit }: HoldersQuery): Promise<UserId[]> {
      const from = after === null ? '-' : `(${after}`;
      return reach.write(() =>
        client.zrangebylex(`${prefix}feed:a:${actionId}`, from, '+', 'LIMIT', '0', String(limit)),
      );
    },

    /** One command per 250 readers. */
    async remove(userIds: readonly UserId[], actionIds: readonly ActionId[]): Promise<void> {
      if (actionIds.length === 0) return;
      await Promise.all(
        batches(userIds).map((batch) => run(REMOVE_SCRIPT, String(batch.length), ...batch, ...actionIds)),
      );
    },

    async trim(userId: UserId, from: FeedPosition): Promise<void> {
      await run(TRIM_SCRIPT, userId, ...place(from));
    },

    async drop(userId: UserId): Promise<void> {
      await run(DROP_SCRIPT, userId);
    },
  };
}

export type RedisFeedsRepository = ReturnType<typeof redisFeedsRepository>;

function place(position: FeedPosition | null): [string | number, string] {
  return position === null ? ['', ''] : [position.relevancy.getTime(), position.actionId];
}

function bits(reasons: readonly DeliveryReason[]): number {
  return reasons.reduce((all, reason) => all | (1 << DELIVERY_REASONS.indexOf(reason)), 0);
}

function toReasons(number: number): DeliveryReason[] {
  return DELIVERY_REASONS.filter((_, bit) => (number & (1 << bit)) !== 0);
}

/** Decodes a flat list of id, milliseconds and reasons. */
function toEntries(parts: readonly string[]): FeedEntry[] {
  const entries: FeedEntry[] = [];
  for (let i = 0; i < parts.length; i += 3)
    entries.push({
      actionId: parts[i] ?? '',
      relevancy: new Date(Number(parts[i + 1])),
      reasons: toReasons(Number(parts[i + 2])),
    });
  return entries;
}

function toChange(letter: string): RedisFeedChange {
  if (letter === 'a') return 'added';
  return letter === 'r' ? 'raised' : 'none';
}

function texts(reply: unknown): string[] {
  if (!Array.isArray(reply)) throw new Error('A script answered with something else than a list');
  return reply.map(String);
}

function batches<T>(items: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let start = 0; start < items.length; start += BATCH) parts.push(items.slice(start, start + BATCH));
  return parts;
}
