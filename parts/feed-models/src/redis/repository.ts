import type { HoldersQuery, FeedPageQuery, ReaderDelivery } from '../../../../src/feed/feed-store.ts';
import type { ActionId, UserId } from '../../../../src/domain/action.ts';
import {
  DELIVERY_REASONS,
  type DeliveryReason,
  type FeedEntry,
  type FeedPosition,
} from '../../../../src/domain/newsfeed-item.ts';
import type { RedisPart } from '../../../../src/connections/redis-parts.ts';
import { StoreUnavailable } from '../../../../src/storage/database/errors.ts';

interface RedisFeedsOptions {
  readonly cap: number;
  /** Lifetime of a feed from its first write. */
  readonly lifetimeMs: number;
}

type RedisFeedChange = 'added' | 'raised' | 'none';

/** Entries per script: a script must not block the server for long. */
const BATCH = 250;

/**
 * Feeds as sorted sets. Rejects with StoreUnavailable while Redis is away (reads within a second), otherwise with the
 * client's errors.
 */
export function redisFeedsRepository(
  { commands: client, prefix, isSharded }: RedisPart,
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
    async deliver(actionId: ActionId, readers: readonly ReaderDelivery[]): Promise<RedisFeedChange[]> {
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

    async page(query: FeedPageQuery): Promise<{
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
  if (!Array.isArray(reply)) throw new Error('The answer of a script is not a list');
  return reply.map(String);
}

function batches<T>(items: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let start = 0; start < items.length; start += BATCH) parts.push(items.slice(start, start + BATCH));
  return parts;
}

/**
 * The scripts behind feeds in Redis. Two keys per reader, which expire together:
 *
 * - `feed:z:<reader>` sorted set: action id → relevancy in ms, and one member with score -inf for the state of the feed,
 *   `!<run>|<trust>|<ms>|<id>`: the server's run id, trust `-` (not complete), `o` (opened: a rebuild is filling it) or `v`
 *   (complete), and the floor, empty if nothing was evicted.
 * - `feed:h:<reader>` hash: action id → reasons as a bit mask.
 *
 * `feed:a:<action>` is the sorted set of readers who have the action. A feed lives for a fixed time from the write of its
 * first key. An action's set lives for that time from its last addition, so it outlives every feed that has the action.
 *
 * A feed is lost, and its remains are deleted, when one of its keys is missing, when the two differ in length, or when
 * another run of the server wrote it: a restarted server may have lost its latest writes.
 *
 * All scripts take ARGV: prefix, lifetime in ms, cap, then the arguments given at each. Action ids are 24 hex digits and
 * compare as text.
 */
const PRELUDE = `
local prefix, ttl, cap = ARGV[1] .. 'feed:', ARGV[2], tonumber(ARGV[3])
local run = string.sub(string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') or '0', 1, 8)
local function zkey(user) return prefix .. 'z:' .. user end
local function hkey(user) return prefix .. 'h:' .. user end
local function akey(action) return prefix .. 'a:' .. action end
local function isBelow(ms, id, floorMs, floorId) return ms < floorMs or (ms == floorMs and id <= floorId) end

local function wipe(user)
  for _, action in ipairs(redis.call('ZRANGE', zkey(user), 1, -1)) do redis.call('ZREM', akey(action), user) end
  for _, action in ipairs(redis.call('HKEYS', hkey(user))) do redis.call('ZREM', akey(action), user) end
  redis.call('DEL', zkey(user), hkey(user))
end

-- The feed as it stands; nil when there is none, or when it is lost.
local function load(user)
  local z = zkey(user)
  local state = redis.call('ZRANGE', z, 0, 0)[1]
  if state then
    local wroteIt, trust, ms, id = string.match(state, '^!(%x+)|(.)|([-%d]*)|(%x*)$')
    if wroteIt == run and redis.call('ZCARD', z) - 1 == redis.call('HLEN', hkey(user)) then
      return { user = user, state = state, trust = trust, ms = tonumber(ms), text = ms, id = id }
    end
  end
  wipe(user)
  return nil
end

local function save(feed)
  local state = '!' .. run .. '|' .. feed.trust .. '|' .. feed.text .. '|' .. feed.id
  if state == feed.state then return end
  -- In this order: a set that is empty for a moment loses its lifetime.
  redis.call('ZADD', zkey(feed.user), '-inf', state)
  redis.call('ZREM', zkey(feed.user), feed.state)
  feed.state = state
end

local function loadOrMake(user)
  local feed = load(user)
  if feed then return feed end
  feed = { user = user, state = '', trust = '-', text = '', id = '' }
  save(feed)
  redis.call('PEXPIRE', zkey(user), ttl)
  return feed
end

local function raiseFloor(feed, text, id)
  local ms = tonumber(text)
  if feed.ms and isBelow(ms, id, feed.ms, feed.id) then return end
  feed.ms, feed.text, feed.id = ms, text, id
end

local function forget(user, action)
  redis.call('ZREM', zkey(user), action)
  redis.call('HDEL', hkey(user), action)
  redis.call('ZREM', akey(action), user)
end

-- Entries from a rank on, lowest first, that are at a position or below.
local function forgetUpTo(user, ms, id)
  while true do
    local found = redis.call('ZRANGE', zkey(user), 1, 100, 'WITHSCORES')
    if #found == 0 then return end
    for i = 1, #found, 2 do
      if not isBelow(tonumber(found[i + 1]), found[i], ms, id) then return end
      forget(user, found[i])
    end
  end
end

-- 'a': new, or not held; 'r': raised or there for more reasons; '': as it was.
local function put(feed, action, text, reasons)
  local user, ms = feed.user, tonumber(text)
  if feed.ms and isBelow(ms, action, feed.ms, feed.id) and not redis.call('ZSCORE', zkey(user), action) then
    return 'a'
  end
  local old = redis.call('ZSCORE', zkey(user), action)
  if old then
    local had = tonumber(redis.call('HGET', hkey(user), action) or '0')
    local has = bit.bor(had, tonumber(reasons))
    if tonumber(old) >= ms and has == had then return '' end
    if tonumber(old) < ms then redis.call('ZADD', zkey(user), text, action) end
    redis.call('HSET', hkey(user), action, has)
    return 'r'
  end
  redis.call('ZADD', zkey(user), text, action)
  if redis.call('HSET', hkey(user), action, reasons) == 1 and redis.call('HLEN', hkey(user)) == 1 then
    redis.call('PEXPIRE', hkey(user), redis.call('PTTL', zkey(user)))
  end
  redis.call('ZADD', akey(action), 0, user)
  redis.call('PEXPIRE', akey(action), ttl)
  if redis.call('HLEN', hkey(user)) > cap then
    local last = redis.call('ZRANGE', zkey(user), 1, 1, 'WITHSCORES')
    raiseFloor(feed, string.format('%.0f', tonumber(last[2])), last[1])
    forget(user, last[1])
    save(feed)
  end
  return 'a'
end
`;

/**
 * Delivers one action. Further ARGV: action, then reader, ms and reasons repeatedly. Returns one letter per reader, see
 * `put`.
 */
const DELIVER_SCRIPT = `${PRELUDE}
local reply = {}
for i = 5, #ARGV, 3 do
  reply[#reply + 1] = put(loadOrMake(ARGV[i]), ARGV[4], ARGV[i + 1], ARGV[i + 2])
end
return reply
`;

/**
 * Adds many actions to one feed. Further ARGV: reader, then action, ms and reasons repeatedly. Returns one letter per
 * action.
 */
const FILL_SCRIPT = `${PRELUDE}
local feed, reply = loadOrMake(ARGV[4]), {}
for i = 5, #ARGV, 3 do
  reply[#reply + 1] = put(feed, ARGV[i], ARGV[i + 1], ARGV[i + 2])
end
return reply
`;

/** Records that a feed is about to be filled. Further ARGV: reader. */
const OPEN_FEED_SCRIPT = `${PRELUDE}
local feed = loadOrMake(ARGV[4])
if feed.trust == '-' then
  feed.trust = 'o'
  save(feed)
end
`;

/** Declares a feed complete if it was opened and not lost since. Further ARGV: reader, ms and id of the floor, or empty. */
const VOUCH_SCRIPT = `${PRELUDE}
local feed = load(ARGV[4])
if feed and feed.trust ~= '-' then
  feed.trust = 'v'
  if ARGV[5] ~= '' then
    raiseFloor(feed, ARGV[5], ARGV[6])
    forgetUpTo(feed.user, feed.ms, feed.id)
  end
  save(feed)
end
`;

/**
 * Further ARGV: reader; ms and id of the position to continue after, or empty; since, until, or empty; limit. Returns trust,
 * ms and id of the floor, then id, ms and reasons of each entry.
 */
const FEED_PAGE_SCRIPT = `${PRELUDE}
local user, afterMs, afterId, since, before, limit = ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], tonumber(ARGV[9])
local feed = load(user)
if not feed then return { '-', '', '' } end
local z, from = zkey(user), 0
if before ~= '' then from = redis.call('ZCOUNT', z, before, '+inf') end
if afterMs ~= '' then
  local low = redis.call('ZCOUNT', z, '(' .. afterMs, '+inf')
  local high = low + redis.call('ZCOUNT', z, afterMs, afterMs)
  -- Of those with the same relevancy, the first whose id is lower.
  while low < high do
    local middle = math.floor((low + high) / 2)
    if redis.call('ZREVRANGE', z, middle, middle)[1] >= afterId then low = middle + 1 else high = middle end
  end
  from = math.max(from, low)
end
local last = redis.call('HLEN', hkey(user)) - 1
if since ~= '' then last = redis.call('ZCOUNT', z, since, '+inf') - 1 end
last = math.min(last, from + limit - 1)
local reply = { feed.trust, feed.text, feed.id }
if last < from then return reply end
local found, ids = redis.call('ZREVRANGE', z, from, last, 'WITHSCORES'), {}
for i = 1, #found, 2 do ids[#ids + 1] = found[i] end
local reasons = {}
for i = 1, #ids, 1000 do
  local some = redis.call('HMGET', hkey(user), unpack(ids, i, math.min(i + 999, #ids)))
  for _, one in ipairs(some) do reasons[#reasons + 1] = one or '0' end
end
for i = 1, #ids do
  reply[#reply + 1] = ids[i]
  reply[#reply + 1] = string.format('%.0f', tonumber(found[2 * i]))
  reply[#reply + 1] = reasons[i]
end
return reply
`;

/** Further ARGV: reader, then actions. Returns id, ms and reasons of each stored one. */
const FIND_SCRIPT = `${PRELUDE}
local user, reply = ARGV[4], {}
if load(user) then
  for i = 5, #ARGV do
    local ms = redis.call('ZSCORE', zkey(user), ARGV[i])
    if ms then
      reply[#reply + 1] = ARGV[i]
      reply[#reply + 1] = string.format('%.0f', tonumber(ms))
      reply[#reply + 1] = redis.call('HGET', hkey(user), ARGV[i]) or '0'
    end
  end
end
return reply
`;

/** Further ARGV: number of readers, the readers, the actions. */
const REMOVE_SCRIPT = `${PRELUDE}
local readers = tonumber(ARGV[4])
for r = 5, 4 + readers do
  load(ARGV[r])
  for a = 5 + readers, #ARGV do forget(ARGV[r], ARGV[a]) end
end
`;

/** Further ARGV: reader, ms and id of the position. */
const TRIM_SCRIPT = `${PRELUDE}
if load(ARGV[4]) then forgetUpTo(ARGV[4], tonumber(ARGV[5]), ARGV[6]) end
`;

/** Further ARGV: reader. Removes everything about them, including their place in the sets of actions. */
const DROP_SCRIPT = `${PRELUDE}
wipe(ARGV[4])
`;

/** Timeout of a read, in milliseconds. */
const PATIENCE_MS = 1_000;
/** After a timeout, reads are refused without being sent for this long. */
const PAUSE_MS = 1_000;

/** Error codes of a server that currently refuses all commands. */
const NOT_NOW: ReadonlySet<string> = new Set([
  'BUSY',
  'CLUSTERDOWN',
  'LOADING',
  'MASTERDOWN',
  'MISCONF',
  'MOVED',
  'NOREPLICAS',
  'OOM',
  'READONLY',
  'TRYAGAIN',
]);

/** Commands to a Redis that may be away: rejects with StoreUnavailable then, otherwise with the server's error. */
interface RedisReach {
  /** Waits as long as the client does. */
  write<T>(send: () => Promise<T>): Promise<T>;
  /**
   * For callers with a fallback: waits for at most a second, and not at all while Redis is known to be away. A lost
   * connection refuses on its own; with a silent one, a single read at a time tests whether it answers again.
   */
  read<T>(send: () => Promise<T>): Promise<T>;
}

export function redisReach(patienceMs: number = PATIENCE_MS): RedisReach {
  /** No reads until this time, by the local clock; `null`: the last command was answered. */
  let silentUntil: number | null = null;

  async function write<T>(send: () => Promise<T>): Promise<T> {
    try {
      const answer = await send();
      silentUntil = null;
      return answer;
    } catch (error) {
      throw isAway(error) ? new StoreUnavailable('The feed store cannot be reached', error) : error;
    }
  }

  async function read<T>(send: () => Promise<T>): Promise<T> {
    const now = performance.now();
    if (silentUntil !== null) {
      if (now < silentUntil) throw new StoreUnavailable('The feed store did not answer a moment ago');
      silentUntil = now + patienceMs;
    }
    let isOver = false;
    let giveUp: NodeJS.Timeout | undefined;
    const silence = new Promise<never>((_, reject) => {
      giveUp = setTimeout(() => {
        // If this process was the slow one, the answer is waiting in the socket and is handled first.
        setImmediate(() => {
          if (isOver) return;
          silentUntil = performance.now() + PAUSE_MS;
          reject(new StoreUnavailable('The feed store does not answer'));
        });
      }, patienceMs);
    });
    try {
      return await Promise.race([write(send), silence]);
    } finally {
      isOver = true;
      clearTimeout(giveUp);
    }
  }

  return { write, read };
}

/** A server that answers is available, unless it refuses every command. Without an answer it is away. */
function isAway(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return true;
  return NOT_NOW.has(error.message.split(' ', 1)[0] ?? '');
}
