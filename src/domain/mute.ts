import type { RefId, UserId } from './action.ts';
import { Phrases } from './words.ts';

/** Most mutes of one reader, of whatever kind: every request of theirs reads the list. */
export const MAX_MUTES = 1_000;
/** Most phrases among them: each is looked for in every text. */
export const MAX_PHRASES = 50;
/** Longest phrase, in characters and in words. */
export const MAX_PHRASE_LENGTH = 100;
export const MAX_PHRASE_WORDS = 5;

export const MUTE_KINDS = ['MEMBER', 'REF', 'TYPE', 'PHRASE'] as const;
export type MuteKind = (typeof MUTE_KINDS)[number];

export interface MuteTarget {
  readonly kind: MuteKind;
  /** The id of the member or ref, the type of descriptor, or the normalised words of the phrase with a space between them. */
  readonly value: string;
  /** A phrase as the reader wrote it; null for other kinds. */
  readonly text: string | null;
}

export interface Mute extends MuteTarget {
  /** From then on it mutes nothing. Null: it has no end. */
  readonly until: Date | null;
}

/** What a reader mutes at one moment, ready to be compared with many actions. */
export interface ReaderMutes {
  /** By kind and value; each of them once. */
  readonly list: readonly Mute[];
  readonly members: ReadonlySet<UserId>;
  readonly refs: ReadonlySet<RefId>;
  readonly types: ReadonlySet<string>;
  readonly phrases: Phrases;
}

/** @param all those that have ended by `now` are left out. */
export function readerMutes(all: readonly Mute[], now: Date): ReaderMutes {
  if (all.length === 0) return NO_MUTES;
  const list = all
    .filter(({ until }) => until === null || until.getTime() > now.getTime())
    .sort((a, b) => compareKinds(a, b) || (a.value < b.value ? -1 : 1));
  const valuesOf = (kind: MuteKind): string[] =>
    list.filter((mute) => mute.kind === kind).map(({ value }) => value);
  return {
    list,
    members: new Set(valuesOf('MEMBER')),
    refs: new Set(valuesOf('REF')),
    types: new Set(valuesOf('TYPE')),
    phrases: new Phrases(valuesOf('PHRASE').map((value) => value.split(' '))),
  };
}

function compareKinds(a: MuteTarget, b: MuteTarget): number {
  return MUTE_KINDS.indexOf(a.kind) - MUTE_KINDS.indexOf(b.kind);
}

export const NO_MUTES: ReaderMutes = {
  list: [],
  members: new Set(),
  refs: new Set(),
  types: new Set(),
  phrases: new Phrases([]),
};

export function isMutedMember({ members }: Pick<ReaderMutes, 'members'>, userId: UserId): boolean {
  return members.has(userId);
}
