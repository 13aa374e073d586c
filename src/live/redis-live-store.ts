import { randomBytes } from 'node:crypto';
import type { UserId } from '../domain/action.ts';
import type { RedisClient, RedisConnections } from '../connections/redis.ts';
import type { Gaps } from './live-watcher.ts';
import {
  isOfReader,
  type LogPosition,
  LiveLogUnavailable,
  type LiveAppend,
  type LiveLogLimits,
} from './live-log.ts';
import { watchedKey, decodeRenewal, encodeAppends } from './redis-live-wire.ts';

/**
 * The scripts behind the Redis live log. All take ARGV: prefix, a new nonce (8 hex digits), keepMs, windowMs, logLength,
 * then the arguments given at each. README.md describes the keys.
 */
const PRELUDE = `
local prefix, nonce = ARGV[1] .. 'live:', ARGV[2]
local keepMs, windowMs, logLength = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local watchedKey, epochKey = prefix .. 'watched', prefix .. 'epoch'
-- A key is given in a cluster alone, where channels lie in slots as keys do.
local publish = KEYS[1] and 'SPUBLISH' or 'PUBLISH'

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local function whole(n) return string.format('%.0f', n) end

-- The first write: one that frees memory is allowed where that is used up, and then so are all others of the script. What live
-- events take is small and expires.
redis.call('ZREMRANGEBYSCORE', watchedKey, '-inf', whole(now))

-- The run id is in the epoch: a server restarted from an old snapshot has its keys but not its latest events.
local run = string.sub(string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') or '00000000', 1, 8)
local epoch = redis.call('GET', epochKey)
if not epoch or string.sub(epoch, 1, 8) ~= run then
  epoch = run .. nonce
  redis.call('SET', epochKey, epoch)
end

local function restart(user)
  redis.call('DEL', prefix .. 'log:' .. user)
  redis.call('HSET', prefix .. 'head:' .. user, 'gen', epoch .. nonce, 'seq', '0', 'at', '0')
end

local function keep(user)
  redis.call('PEXPIRE', prefix .. 'head:' .. user, whole(keepMs))
  redis.call('PEXPIRE', prefix .. 'log:' .. user, whole(keepMs))
end

local function head(user)
  local h = redis.call('HMGET', prefix .. 'head:' .. user, 'gen', 'seq', 'at')
  return h[1], h[2], h[3]
end

local function isCurrent(gen) return gen and string.sub(gen, 1, 16) == epoch end

local function watch(user)
  redis.call('ZADD', watchedKey, whole(now + keepMs), user)
  redis.call('PEXPIRE', watchedKey, whole(keepMs))
  keep(user)
end

-- The processes that watch a reader are named in the head of the log, a space between them.
local function names(to, process) return string.find(' ' .. to .. ' ', ' ' .. process .. ' ', 1, true) end

local function join(user, process)
  local key = prefix .. 'head:' .. user
  local to = redis.call('HGET', key, 'to') or ''
  if names(to, process) then return end
  if to ~= '' then process = to .. ' ' .. process end
  redis.call('HSET', key, 'to', process)
end

local function leave(user, process)
  local key, kept = prefix .. 'head:' .. user, {}
  for name in string.gmatch(redis.call('HGET', key, 'to') or '', '%S+') do
    if name ~= process then kept[#kept + 1] = name end
  end
  if redis.call('EXISTS', key) == 1 then redis.call('HSET', key, 'to', table.concat(kept, ' ')) end
end

local hints = {}

local function hintTo(told, user, gen, id, event)
  local place = told.places[event]
  if not place then
    place = #told.events
    told.events[place + 1] = event
    told.places[event] = place
  end
  local readers, n = told.readers, told.length
  readers[n + 1], readers[n + 2], readers[n + 3], readers[n + 4] = user, gen, id, place
  told.length = n + 4
end

-- Notes what the processes that watch a reader are to be told, each event once for all readers of a process.
local function hint(user, to, gen, id, event)
  -- Most readers are watched at one process, whose name is all there is.
  local known = hints[to or '']
  if known then return hintTo(known, user, gen, id, event) end
  for process in string.gmatch(to or '', '%S+') do
    if not hints[process] then hints[process] = { events = {}, places = {}, readers = {}, length = 0 } end
    hintTo(hints[process], user, gen, id, event)
  end
end

-- One message for all readers of a process. One that nobody listens to has ended, or says so when it is back.
local function tell()
  for process, told in pairs(hints) do
    local message = cjson.encode({ told.events, told.readers })
    if redis.call(publish, prefix .. 'hints:' .. process, message) == 0 then
      for i = 1, #told.readers, 4 do leave(told.readers[i], process) end
    end
  end
end
`;

/**
 * Registers watches and reads the logs. Further ARGV: the watching process (empty: none), then repeatedly reader, generation
 * and id of the position to read after (empty: none). Returns for each: generation, sequence, time, then id and event of each
 * entry.
 */
const OPEN_SCRIPT = `${PRELUDE}
local process, replies = ARGV[6], {}
for i = 7, #ARGV, 3 do
  local user, askedGen, askedId = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if not (isCurrent(head(user)) and redis.call('ZSCORE', watchedKey, user)) then restart(user) end
  watch(user)
  if process ~= '' then join(user, process) end
  local gen, seq, at = head(user)
  local reply = { gen, seq, at }
  if askedGen == gen and tonumber(string.match(askedId, '%d+$')) < tonumber(seq) then
    local log = prefix .. 'log:' .. user
    redis.call('XTRIM', log, 'MINID', '=', whole(now - windowMs))
    local entries = redis.call('XRANGE', log, '(' .. askedId, '+', 'COUNT', whole(logLength))
    for _, entry in ipairs(entries) do
      reply[#reply + 1] = entry[1]
      reply[#reply + 1] = entry[2][2]
    end
  end
  replies[#replies + 1] = reply
end
return replies
`;

/**
 * Renews watches. Further ARGV: the watching process, the readers. Returns generation and sequence for each, or two empty
 * strings if its log was not kept.
 */
const RENEW_SCRIPT = `${PRELUDE}
local process, reply = ARGV[6], {}
for i = 7, #ARGV do
  local user = ARGV[i]
  local gen, seq = head(user)
  if isCurrent(gen) and redis.call('ZSCORE', watchedKey, user) then
    watch(user)
    join(user, process)
  else
    gen, seq = '', ''
  end
  reply[#reply + 1] = gen
  reply[#reply + 1] = seq
end
return reply
`;

/** Stops notifying a process about readers. Further ARGV: the process, the readers. */
const LEAVE_SCRIPT = `${PRELUDE}
for i = 7, #ARGV do leave(ARGV[i], ARGV[6]) end
`;

/**
 * Appends and notifies. Further ARGV: number of distinct events, the events, then reader and number of the event repeatedly.
 * Readers without a log are skipped.
 */
const APPEND_SCRIPT = `${PRELUDE}
local events = tonumber(ARGV[6])
-- Made once: the loop below runs for each of very many readers.
local call, heads, logs = redis.call, prefix .. 'head:', prefix .. 'log:'
local most, oldest, present = whole(logLength), whole(now - windowMs), whole(now)
for i = 7 + events, #ARGV, 2 do
  local user, event = ARGV[i], ARGV[6 + ARGV[i + 1]]
  local key = heads .. user
  local known = call('HMGET', key, 'gen', 'seq', 'at', 'to')
  local gen, seq, at = known[1], known[2], known[3]
  if gen then
    if not isCurrent(gen) then
      restart(user)
      gen, seq, at = head(user)
    end
    local number = seq + 1
    local count, time = whole(number), present
    -- A clock set back must not make ids fall.
    if tonumber(at) > now then time = whole(tonumber(at)) end
    local id, log = time .. '-' .. count, logs .. user
    -- A log that is there has its time, which each renewal sets again; one that is made here gets it.
    if not call('XADD', log, 'NOMKSTREAM', 'MAXLEN', '=', most, id, 'e', event) then
      call('XADD', log, id, 'e', event)
      call('PEXPIRE', log, whole(keepMs))
    end
    -- What is too old is never read: it goes with the next read, or now and then.
    if number % 32 == 0 then call('XTRIM', log, 'MINID', '=', oldest) end
    call('HSET', key, 'seq', count, 'at', time)
    hint(user, known[4], gen, id, event)
  end
end
tell()
`;

/** Marks a gap. Further ARGV: the readers, or none for all of them. */
const GAP_SCRIPT = `${PRELUDE}
if #ARGV < 6 then
  redis.call('SET', epochKey, run .. nonce)
end
for i = 6, #ARGV do
  local user = ARGV[i]
  if head(user) then
    restart(user)
    hint(user, redis.call('HGET', prefix .. 'head:' .. user, 'to'), epoch .. nonce, '', '')
  end
end
tell()
`;

/** Atomically drops a reader's log and unregisters the reader. Further ARGV: the reader. */
const FORGET_SCRIPT = `${PRELUDE}
local user = ARGV[6]
hint(user, redis.call('HGET', prefix .. 'head:' .. user, 'to'), epoch .. nonce, '', '')
redis.call('DEL', prefix .. 'log:' .. user, prefix .. 'head:' .. user)
redis.call('ZREM', watchedKey, user)
tell()
`;

/** Readers or entries per script: a script must not block the server for long. */
const BATCH = 250;
/** Readers examined per step of a scan. */
const SCAN = 1_000;

/** A reader's log, and the position to read after; `null`: only its end is read. */
export interface AskedLog {
  readonly userId: UserId;
  readonly position: LogPosition | null;
}

/** The logs as stored in Redis. Every method rejects only with LiveLogUnavailable. */
export class RedisLiveStore {
  readonly #client: RedisClient;
  readonly #prefix: string;
  readonly #limits: LiveLogLimits;
  readonly #keys: readonly string[];

  constructor({ commands, isSharded }: RedisConnections, prefix: string, limits: LiveLogLimits) {
    this.#client = commands;
    // A cluster node refuses a script whose declared key is not in its slots; all other keys share the slot.
    this.#keys = isSharded ? [watchedKey(prefix)] : [];
    this.#prefix = prefix;
    this.#limits = limits;
  }

  async watched(userIds: readonly UserId[]): Promise<UserId[]> {
    if (userIds.length === 0) return [];
    const scores = await available(
      'look up watches',
      this.#client.zmscore(watchedKey(this.#prefix), [...userIds]),
    );
    return userIds.filter((_, index) => scores[index] !== null);
  }

  /** A member that is in the set during the whole scan is returned at least once. */
  async *allWatched(): AsyncGenerator<readonly UserId[], void, undefined> {
    let cursor = '0';
    do {
      const [next, found] = await available(
        'look through the watches',
        this.#client.zscan(watchedKey(this.#prefix), cursor, 'COUNT', SCAN),
      );
      cursor = next;
      // The reply alternates members and scores.
      const userIds = found.filter((name, index) => index % 2 === 0 && isOfReader(name));
      if (userIds.length > 0) yield userIds;
    } while (cursor !== '0');
  }

  /** For each log, in order, what `decodeSnapshot` reads. @param process to notify from now on; `null`: none. */
  open(logs: readonly AskedLog[], process: string | null): Promise<readonly unknown[]> {
    const asked = logs.flatMap(({ userId, position }) => {
      const { generation, at, sequence } = position ?? { generation: '', at: 0, sequence: 0 };
      return [userId, generation, `${String(at)}-${String(sequence)}`];
    });
    return this.#run('open logs', OPEN_SCRIPT, [process ?? '', ...asked], (reply) =>
      Array.isArray(reply) ? (reply as readonly unknown[]) : [],
    );
  }

  /** One result per reader, in order; `null` if the log was not kept. */
  async renew(userIds: readonly UserId[], process: string): Promise<ReturnType<typeof decodeRenewal>> {
    const renewals: ReturnType<typeof decodeRenewal> = [];
    for (const batch of batches(userIds))
      renewals.push(...(await this.#run('renew watches', RENEW_SCRIPT, [process, ...batch], decodeRenewal)));
    return renewals;
  }

  /** This process has no watchers of these readers any more. */
  async leave(userIds: readonly UserId[], process: string): Promise<void> {
    for (const batch of batches(userIds))
      await this.#run('leave logs', LEAVE_SCRIPT, [process, ...batch], () => undefined);
  }

  /** Returns the readers whose entries may not have been appended, with the error; `null` when all were. */
  async append(
    entries: readonly LiveAppend[],
  ): Promise<{ readonly lost: UserId[]; readonly error: unknown } | null> {
    const parts = batches(entries);
    // Sent concurrently: a single connection keeps their order.
    const results = await Promise.allSettled(
      parts.map((part) => this.#run('append', APPEND_SCRIPT, encodeAppends(part), () => undefined)),
    );
    const failure = results.find((result) => result.status === 'rejected');
    if (failure === undefined) return null;
    const lost = parts.flatMap((part, index) =>
      results[index]?.status === 'rejected' ? part.map(({ userId }) => userId) : [],
    );
    return { lost, error: failure.reason };
  }

  /** Does what every script begins with. */
  async check(): Promise<void> {
    await this.#run('write', PRELUDE, [], () => undefined);
  }

  /** The epoch of all logs; `null`: its data is lost. */
  async epoch(): Promise<string | null> {
    return available('look at the epoch', this.#client.get(`${this.#prefix}live:epoch`));
  }

  async markGaps(gaps: Gaps): Promise<void> {
    const parts = gaps === 'all' ? [[]] : batches([...gaps]);
    for (const part of parts) await this.#run('mark a gap', GAP_SCRIPT, part, () => undefined);
  }

  async forget(userId: UserId): Promise<void> {
    await this.#run('forget a log', FORGET_SCRIPT, [userId], () => undefined);
  }

  #run<T>(what: string, script: string, args: readonly string[], decode: (reply: unknown) => T): Promise<T> {
    const { keepMs, windowMs, logLength } = this.#limits;
    const nonce = randomBytes(4).toString('hex');
    // EVAL instead of EVALSHA: a second attempt after NOSCRIPT could overtake a later append.
    const keys = this.#keys;
    const limits = [keepMs, windowMs, logLength];
    const reply = this.#client.eval(script, keys.length, ...keys, this.#prefix, nonce, ...limits, ...args);
    return available(what, reply.then(decode));
  }
}

function batches<T>(items: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let start = 0; start < items.length; start += BATCH) parts.push(items.slice(start, start + BATCH));
  return parts;
}

async function available<T>(what: string, reply: Promise<T>): Promise<T> {
  try {
    return await reply;
  } catch (error) {
    throw asUnavailable(what, error);
  }
}

export function asUnavailable(what: string, error: unknown): LiveLogUnavailable {
  return error instanceof LiveLogUnavailable
    ? error
    : new LiveLogUnavailable(`Live log: could not ${what}`, error);
}
