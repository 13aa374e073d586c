import { upToEntries } from '../lib/weight.ts';
import { LRUCache } from 'lru-cache';
import { partIndex, type RedisPart } from './redis-parts.ts';

/** Points allowed per window, and its length in seconds. */
export interface Share {
  readonly points: number;
  readonly seconds: number;
}

export interface Wanted {
  /** The owner of the allowance. */
  readonly key: string;
  /** One of many who share it: gets at most half of what the others have left. `null`: may use all of it. */
  readonly holder: string | null;
  readonly points: number;
  /** Take what there is, if it is less. */
  readonly isPartial: boolean;
}

export interface Taken {
  /** 0: refused, which takes nothing. */
  readonly granted: number;
  /** For the holder, if there is one. */
  readonly left: number;
  /** For all holders together. */
  readonly leftForAll: number;
  /** Milliseconds until the window ends. */
  readonly msLeft: number;
  /** Returns points that were not used. Does nothing after the end of the window. */
  readonly giveBack: (points: number) => Promise<void>;
}

/**
 * `grant` below, where all processes count together. Each window has a name, so that points returned after its end do not
 * count in the next one. Redis keeps the end of a window by a clock that may be set back: it never lasts longer than a
 * window. KEYS: of the allowance. ARGV: points wanted, points of a window, its milliseconds, a name for a new one, holder or
 * '', 1 for partial.
 */
const TAKE = `
local used = tonumber(redis.call('HGET', KEYS[1], 'used'))
if not used then
  used = 0
  redis.call('HSET', KEYS[1], 'used', '0', 'window', ARGV[4])
end
local msLeft = redis.call('PTTL', KEYS[1])
if msLeft < 0 or msLeft > tonumber(ARGV[3]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  msLeft = tonumber(ARGV[3])
end
local wanted, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local own, left = 0, most - used
if ARGV[5] ~= '' then
  own = tonumber(redis.call('HGET', KEYS[1], 'of:' .. ARGV[5]) or '0')
  left = math.min(left, math.ceil((most - used + own) / 2) - own)
end
local granted = 0
if ARGV[6] == '1' then granted = math.max(0, math.min(wanted, left))
elseif wanted <= left or (own == 0 and wanted <= most - used) then granted = wanted end
if granted > 0 then
  redis.call('HINCRBY', KEYS[1], 'used', granted)
  if ARGV[5] ~= '' then redis.call('HINCRBY', KEYS[1], 'of:' .. ARGV[5], granted) end
end
return {granted, math.max(0, left - granted), most - used - granted, msLeft, redis.call('HGET', KEYS[1], 'window')}
`;

/** KEYS: of the allowance. ARGV: points, name of the window they were taken from, holder or ''. */
const GIVE_BACK = `
if redis.call('HGET', KEYS[1], 'window') ~= ARGV[2] then return 0 end
if ARGV[3] ~= '' then redis.call('HINCRBY', KEYS[1], 'of:' .. ARGV[3], -ARGV[1]) end
return redis.call('HINCRBY', KEYS[1], 'used', -ARGV[1])
`;

/** Refused callers that are remembered, so that they cost no command. */
const MOST_REFUSED = 10_000;

/**
 * Allowances in windows that begin with the first use, over all processes on one Redis. While Redis cannot be reached, each
 * process counts on its own. Windows of this process go by a clock that nobody sets.
 */
export class Windows {
  readonly points: number;
  readonly seconds: number;
  readonly #name: string;
  readonly #parts: readonly RedisPart[];
  readonly #own = new Map<string, OwnWindow>();
  readonly #refused = new LRUCache<string, Taken & { readonly until: number }>(upToEntries(MOST_REFUSED));

  /** Windows have whole seconds: others are extended, and their points increased in proportion. @param name of the keys */
  constructor(name: string, { points, seconds }: Share, parts: readonly RedisPart[] = []) {
    this.seconds = Math.max(1, Math.ceil(seconds));
    this.points = Math.round((points * this.seconds) / seconds);
    this.#name = name;
    this.#parts = parts;
  }

  async take(wanted: Wanted): Promise<Taken> {
    const part = this.#parts[partIndex(wanted.key, this.#parts.length)];
    return (part === undefined ? null : await this.#takeTogether(part, wanted)) ?? this.#takeHere(wanted);
  }

  /** `null`: Redis cannot be reached. */
  async #takeTogether({ commands, prefix }: RedisPart, wanted: Wanted): Promise<Taken | null> {
    const { holder, points, isPartial } = wanted;
    const who = JSON.stringify([wanted.key, holder]);
    const refused = this.#refused.get(who);
    if (refused !== undefined && refused.until > performance.now())
      return { ...refused, msLeft: refused.until - performance.now() };
    const key = `${prefix}${this.#name}:${wanted.key}`;
    const ask = async (script: string, ...args: (string | number)[]): Promise<unknown> => {
      // Without a connection a command would fail; its owner logs why.
      if (commands.status !== 'ready') return null;
      return commands.eval(script, 1, key, ...args).catch(() => null);
    };
    const limits = [points, this.points, this.seconds * 1_000, crypto.randomUUID()];
    const reply = await ask(TAKE, ...limits, holder ?? '', isPartial ? 1 : 0);
    if (!Array.isArray(reply)) return null;
    const [granted = 0, left = 0, leftForAll = 0, msLeft = 0] = reply.map(Number);
    const window = String(reply[4]);
    const taken = {
      ...{ granted, left, leftForAll, msLeft },
      giveBack: async (some: number) => {
        await ask(GIVE_BACK, some, window, holder ?? '');
      },
    };
    // A partial take may be given back before the window ends.
    if (left === 0 && granted === 0 && !isPartial)
      this.#refused.set(who, { ...taken, until: performance.now() + msLeft });
    return taken;
  }

  #takeHere({ key, holder, points, isPartial }: Wanted): Taken {
    let window = this.#own.get(key);
    if (window === undefined) {
      const ms = this.seconds * 1_000;
      this.#own.set(key, (window = { used: 0, byHolder: new Map(), endsAt: performance.now() + ms }));
      setTimeout(() => this.#own.delete(key), ms).unref();
    }
    const taken = window;
    const own = holder === null ? 0 : (taken.byHolder.get(holder) ?? 0);
    const { granted, left } = grant(
      { most: this.points, used: taken.used, own },
      { holder, points, isPartial },
    );
    const add = (more: number): void => {
      taken.used += more;
      if (holder !== null) taken.byHolder.set(holder, (taken.byHolder.get(holder) ?? 0) + more);
    };
    add(granted);
    return {
      ...{ granted, left, leftForAll: this.points - taken.used },
      msLeft: Math.max(0, taken.endsAt - performance.now()),
      giveBack: (some) => {
        add(-some);
        return Promise.resolve();
      },
    };
  }
}

interface OwnWindow {
  used: number;
  readonly byHolder: Map<string, number>;
  /** On the `performance.now()` clock. */
  readonly endsAt: number;
}

/** A holder's first use in a window may be larger than their share, or expensive ones would never be possible. */
function grant(
  { most, used, own }: { readonly most: number; readonly used: number; readonly own: number },
  { holder, points, isPartial }: Omit<Wanted, 'key'>,
): { readonly granted: number; readonly left: number } {
  const share = holder === null ? Infinity : Math.ceil((most - used + own) / 2) - own;
  const left = Math.min(most - used, share);
  const isAllowed = points <= left || (own === 0 && points <= most - used);
  const granted = isPartial ? Math.max(0, Math.min(points, left)) : isAllowed ? points : 0;
  return { granted, left: Math.max(0, left - granted) };
}
