import { isIP } from 'node:net';
import { z } from 'zod';
import { MAX_REACTION_LENGTH, reactionForm } from '../domain/text-forms.ts';
import { parseDuration, parseSize } from './units.ts';

/** The type of a variable's value: its parser and the description of what is expected. */
export interface Kind<T> {
  readonly expects: string;
  readonly schema: z.ZodType<T, string>;
}

const WEEK_MS = 604_800_000;

export function kind<T>(expects: string, read: (text: string) => T | null): Kind<T> {
  const schema = z.string().transform((text, context): T => {
    const value = read(text);
    if (value !== null) return value;
    context.addIssue({ code: 'custom', message: expects });
    return z.NEVER;
  });
  return { expects, schema };
}

export function whole(min: number, max: number): Kind<number> {
  return kind(`a whole number from ${String(min)} to ${String(max)}`, (text) => {
    const value = Number(text);
    return /^\d+$/.test(text) && value >= min && value <= max ? value : null;
  });
}

/** `off` gives undefined. */
export function wholeOrOff(min: number, max: number): Kind<number | undefined> {
  const { expects, schema } = whole(min, max);
  return {
    expects: `off, or ${expects}`,
    schema: z.union([z.literal('off').transform(() => undefined), schema]),
  };
}

/** In milliseconds. */
export function duration(min: string, max: string): Kind<number> {
  return quantity('a duration', { min, max, examples: ['500ms', '30s', '5m', '12h', '7d'] }, parseDuration);
}

/** In milliseconds. `off` gives undefined. */
export function durationOrOff(min: string, max: string): Kind<number | undefined> {
  const { expects, schema } = duration(min, max);
  return {
    expects: `off, or ${expects}`,
    schema: z.string().transform((value, context): number | undefined => {
      if (value === 'off') return undefined;
      const read = schema.safeParse(value);
      if (read.success) return read.data;
      context.addIssue({ code: 'custom', message: `off, or ${expects}` });
      return z.NEVER;
    }),
  };
}

/** In bytes. */
export function size(min: string, max: string): Kind<number> {
  return quantity('a size', { min, max, examples: ['512KiB', '1MiB'] }, parseSize);
}

interface Range {
  readonly min: string;
  readonly max: string;
  /** Only values in the range are shown. */
  readonly examples: readonly string[];
}

function quantity(
  what: string,
  { min, max, examples }: Range,
  parse: (text: string) => number | null,
): Kind<number> {
  const read = (text: string): number | null => within(parse(text), parse(min), parse(max));
  const shown = examples.filter((example) => read(example) !== null);
  const last = shown.pop() ?? min;
  const list = shown.length === 0 ? last : `${shown.join(', ')} or ${last}`;
  return kind(`${what} from ${min} to ${max}, such as ${list}`, read);
}

function within(value: number | null, min: number | null, max: number | null): number | null {
  return value !== null && value >= (min ?? 0) && value <= (max ?? Infinity) ? value : null;
}

export function oneOf<const T extends string>(values: readonly T[]): Kind<T> {
  return kind(`one of ${values.join(', ')}`, (text) => values.find((value) => value === text) ?? null);
}

export function onOff(): Kind<boolean> {
  const words = new Map([
    ['on', true],
    ['true', true],
    ['yes', true],
    ['1', true],
    ['off', false],
    ['false', false],
    ['no', false],
    ['0', false],
  ]);
  return kind('on or off', (text) => words.get(text.toLowerCase()) ?? null);
}

/** A URL with one of the given protocols. Returned as written: drivers accept more than the URL class does. */
export function url(...protocols: readonly string[]): Kind<string> {
  const prefixes = protocols.map((protocol) => `${protocol}://`);
  return kind(`a URL that begins with ${prefixes.join(' or ')}`, (text) =>
    prefixes.some((prefix) => text.startsWith(prefix) && text.length > prefix.length) ? text : null,
  );
}

/** As a provider of accounts names itself: its slash at the end counts. Without encryption on this machine alone. */
export function issuer(): Kind<string> {
  return kind('an https URL without user, query and fragment; http for localhost alone', (text) => {
    if (!URL.canParse(text) || /[\s?#"<>]/.test(text)) return null;
    const { protocol, hostname, username, password } = new URL(text);
    // It becomes a part of a header.
    if (username !== '' || password !== '' || !/^(?:[\w.-]+|\[[\da-f:.]+\])$/.test(hostname)) return null;
    const isSafe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.has(hostname));
    return isSafe ? text : null;
  });
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

const REQUEST_NAMES: ReadonlySet<string> = new Set(['scope', 'audience', 'resource']);

/** What a provider of accounts is asked for, written as a query. */
export function accountRequest(): Kind<Readonly<Record<string, string>>> {
  return kind(
    'scope, which has openid, and if need be audience and resource, such as scope=openid&audience=https://feed.example',
    (text) => {
      const given = [...new URLSearchParams(text)];
      const values = Object.fromEntries(given);
      const isKnown = given.every(([name, value]) => REQUEST_NAMES.has(name) && value !== '');
      const hasScope = values['scope']?.split(' ').includes('openid') === true;
      return isKnown && hasScope && Object.keys(values).length === given.length ? values : null;
    },
  );
}

export function text(expects: string, pattern: RegExp): Kind<string> {
  return kind(expects, (value) => (pattern.test(value) ? value : null));
}

/** HS256 requires a key at least as long as its hash. */
export function secret(minBytes: number): Kind<string> {
  return kind(`at least ${String(minBytes)} bytes`, (value) =>
    Buffer.byteLength(value) >= minBytes ? value : null,
  );
}

/** Origins as browsers send them; a single `*` means all. `off` gives an empty list. */
export function origins(): Kind<readonly string[] | '*'> {
  return kind('off, *, or origins such as https://app.example, separated by commas', (text) => {
    if (text === 'off') return [];
    if (text === '*') return '*';
    const given = text.split(',').map((part) => part.trim());
    return given.every(isOrigin) ? given : null;
  });
}

function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

const MOST_BITS: Readonly<Record<number, number>> = { 4: 32, 6: 128 };

/** Addresses, and networks in CIDR notation, separated by commas. */
export function networks(): Kind<readonly string[]> {
  return kind('addresses or networks such as 10.0.0.0/8 or fd00::/8, separated by commas', (text) => {
    const given = text.split(',').map((part) => part.trim());
    return given.every(isNetwork) ? given : null;
  });
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const most = MOST_BITS[isIP(address)];
  if (most === undefined || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
}

export const MOST_REACTIONS = 50;
/** Reactions become field names in documents, so dots and dollar signs are not allowed. */
const REACTION = /^[^\s\p{Cc},.$"]{1,32}$/u;

const REACTIONS_EXPECTED = `1 to ${String(MOST_REACTIONS)} different emoji or words of at most ${String(MAX_REACTION_LENGTH)} characters`;
const REACTION_EXPECTED = 'without spaces, dots, dollars and quotes';

/** Short words or emoji, separated by commas. */
export function reactions(): Kind<readonly string[]> {
  return kind(`${REACTIONS_EXPECTED}, separated by commas, ${REACTION_EXPECTED}`, (value) => {
    const given = value.split(',').map((part) => part.trim());
    return checkReactions(given) === null ? given : null;
  });
}

/** Describes what was expected when the reactions are invalid; `null` when they are valid. */
export function checkReactions(given: readonly string[]): string | null {
  const isGood =
    given.length >= 1 &&
    given.length <= MOST_REACTIONS &&
    new Set(given.map(reactionForm)).size === given.length &&
    given.every((reaction) => REACTION.test(reaction) && reaction.isWellFormed());
  return isGood ? null : `${REACTIONS_EXPECTED}, ${REACTION_EXPECTED} and commas`;
}

export interface Rate {
  readonly points: number;
  readonly perMs: number;
}

/** Such as `600/1m`. `off` gives undefined. */
export function rate(what = 'requests'): Kind<Rate | undefined> {
  const expects = `off, or ${what} per duration such as ${what === 'objects' ? '50000' : '600'}/1m`;
  const schema = z.string().transform((value, context): Rate | undefined => {
    if (value === 'off') return undefined;
    const [points = '', per = ''] = value.split('/');
    const perMs = parseDuration(per);
    if (/^[1-9]\d{0,8}$/.test(points) && perMs !== null && perMs > 0 && perMs <= WEEK_MS)
      return { points: Number(points), perMs };
    context.addIssue({ code: 'custom', message: expects });
    return z.NEVER;
  });
  return { expects, schema };
}

/** Named numbers such as `LIKE=0.98,COMMENT=0.9`; names not given keep their default. `names` null: any name. */
export function weights<const N extends string>(
  defaults: Readonly<Record<N, number>>,
  max: number,
  names: readonly string[] | null = Object.keys(defaults),
): Kind<Readonly<Record<N, number>>> {
  const which = names === null ? 'by name' : `for ${names.join(', ')}`;
  return kind(`numbers from 0 to ${String(max)} ${which}, such as ${names?.[0] ?? 'Posted'}=1`, (text) => {
    const found: Record<string, number> = {};
    for (const pair of text.split(',').filter((part) => part.trim() !== '')) {
      const [, name = '', digits = ''] = /^\s*(\w+)\s*=\s*(\d+(?:\.\d+)?)\s*$/.exec(pair) ?? [];
      const value = Number(digits);
      if (name === '' || name in found || value > max) return null;
      if (names !== null && !names.includes(name)) return null;
      found[name] = value;
    }
    return { ...defaults, ...found };
  });
}
