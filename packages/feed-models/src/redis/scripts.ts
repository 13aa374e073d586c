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
export const DELIVER_SCRIPT = `${PRELUDE}
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
export const FILL_SCRIPT = `${PRELUDE}
local feed, reply = loadOrMake(ARGV[4]), {}
for i = 5, #ARGV, 3 do
  reply[#reply + 1] = put(feed, ARGV[i], ARGV[i + 1], ARGV[i + 2])
end
return reply
`;

/** Records that a feed is about to be filled. Further ARGV: reader. */
export const OPEN_FEED_SCRIPT = `${PRELUDE}
local feed = loadOrMake(ARGV[4])
if feed.trust == '-' then
  feed.trust = 'o'
  save(feed)
end
`;

/** Declares a feed complete if it was opened and not lost since. Further ARGV: reader, ms and id of the floor, or empty. */
export const VOUCH_SCRIPT = `${PRELUDE}
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
export const FEED_PAGE_SCRIPT = `${PRELUDE}
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
export const FIND_SCRIPT = `${PRELUDE}
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
export const REMOVE_SCRIPT = `${PRELUDE}
local readers = tonumber(ARGV[4])
for r = 5, 4 + readers do
  load(ARGV[r])
  for a = 5 + readers, #ARGV do forget(ARGV[r], ARGV[a]) end
end
`;

/** Further ARGV: reader, ms and id of the position. */
export const TRIM_SCRIPT = `${PRELUDE}
if load(ARGV[4]) then forgetUpTo(ARGV[4], tonumber(ARGV[5]), ARGV[6]) end
`;

/** Further ARGV: reader. Removes everything about them, including their place in the sets of actions. */
export const DROP_SCRIPT = `${PRELUDE}
wipe(ARGV[4])
`;
