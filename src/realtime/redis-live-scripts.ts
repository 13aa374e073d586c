/**
 * The scripts behind the Redis live log. All take ARGV: prefix, a fresh nonce (8 hex digits), keepMs, windowMs,
 * logLength, and then what is said at each. Keys and their meaning are in README.md.
 */
const PRELUDE = `
local prefix, nonce = ARGV[1] .. 'live:', ARGV[2]
local keepMs, windowMs, logLength = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local watchedKey, epochKey = prefix .. 'watched', prefix .. 'epoch'

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local function whole(n) return string.format('%.0f', n) end

-- The run id is in the epoch: a server restarted from an old snapshot has its keys but not its latest events.
local run = string.sub(string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') or '00000000', 1, 8)
local epoch = redis.call('GET', epochKey)
if not epoch or string.sub(epoch, 1, 8) ~= run then
  epoch = run .. nonce
  redis.call('SET', epochKey, epoch)
end

redis.call('ZREMRANGEBYSCORE', watchedKey, '-inf', whole(now))

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
`;

/**
 * Registers a watch and reads the log. Further ARGV: reader, generation and id of the position to read behind (empty:
 * none). Returns generation, sequence, time, then id and event of each entry.
 */
export const OPEN_SCRIPT = `${PRELUDE}
local user, askedGen, askedId = ARGV[6], ARGV[7], ARGV[8]
if not (isCurrent(head(user)) and redis.call('ZSCORE', watchedKey, user)) then restart(user) end
watch(user)
local gen, seq, at = head(user)
local reply = { gen, seq, at }
if askedGen == gen then
  local entries = redis.call('XRANGE', prefix .. 'log:' .. user, '(' .. askedId, '+', 'COUNT', whole(logLength))
  for _, entry in ipairs(entries) do
    reply[#reply + 1] = entry[1]
    reply[#reply + 1] = entry[2][2]
  end
end
return reply
`;

/**
 * Renews watches. Further ARGV: the readers. Returns generation and sequence for each, two empty strings where the log
 * has not been kept.
 */
export const RENEW_SCRIPT = `${PRELUDE}
local reply = {}
for i = 6, #ARGV do
  local user = ARGV[i]
  local gen, seq = head(user)
  if isCurrent(gen) and redis.call('ZSCORE', watchedKey, user) then
    watch(user)
  else
    gen, seq = '', ''
  end
  reply[#reply + 1] = gen
  reply[#reply + 1] = seq
end
return reply
`;

/** Appends and tells. Further ARGV: reader and event in turn. Readers without a log are passed over. */
export const APPEND_SCRIPT = `${PRELUDE}
local oldest = whole(now - windowMs)
for i = 6, #ARGV, 2 do
  local user, event = ARGV[i], ARGV[i + 1]
  local gen, seq, at = head(user)
  if gen then
    if not isCurrent(gen) then
      restart(user)
      gen, seq, at = head(user)
    end
    -- A clock set back must not make ids fall.
    local time, number = whole(math.max(now, tonumber(at))), whole(tonumber(seq) + 1)
    local id, log = time .. '-' .. number, prefix .. 'log:' .. user
    redis.call('XADD', log, 'MAXLEN', '=', whole(logLength), id, 'e', event)
    redis.call('XTRIM', log, 'MINID', '=', oldest)
    redis.call('HSET', prefix .. 'head:' .. user, 'seq', number, 'at', time)
    redis.call('PEXPIRE', log, whole(keepMs))
    redis.call('PUBLISH', prefix .. 'to:' .. user, gen .. ' ' .. id .. ' ' .. event)
  end
end
`;

/** Marks a gap. Further ARGV: the readers, or none for all of them. */
export const GAP_SCRIPT = `${PRELUDE}
if #ARGV < 6 then
  redis.call('SET', epochKey, run .. nonce)
end
for i = 6, #ARGV do
  local user = ARGV[i]
  if head(user) then
    restart(user)
    redis.call('PUBLISH', prefix .. 'to:' .. user, epoch .. nonce)
  end
end
`;

/** Drops the log of a reader and takes them out of the watched, in one step: a log is kept or it is not. Further ARGV: the reader. */
export const FORGET_SCRIPT = `${PRELUDE}
local user = ARGV[6]
redis.call('DEL', prefix .. 'log:' .. user, prefix .. 'head:' .. user)
redis.call('ZREM', watchedKey, user)
redis.call('PUBLISH', prefix .. 'to:' .. user, epoch .. nonce)
`;
