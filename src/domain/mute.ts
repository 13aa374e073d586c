import type { RefId, UserId } from './action.ts';
import { Phrases } from './text-forms.ts';

/** Upper bound on all mutes of one reader: each of the reader's requests loads the whole list. */
export const MAX_MUTES = 1_000;
/** Upper bound on phrases among them: each is searched for in every text. */
export const MAX_PHRASES = 50;
/** Upper bounds of a phrase, in characters and in words. */
export const MAX_PHRASE_LENGTH = 100;
export const MAX_PHRASE_WORDS = 5;

export const MUTE_KINDS = ['MEMBER', 'REF', 'TYPE', 'PHRASE'] as const;
export type MuteKind = (typeof MUTE_KINDS)[number];

export interface MuteTarget {
  readonly kind: MuteKind;
  /** Id of the member or ref, descriptor type, or the phrase's comparable words joined by spaces. */
  readonly value: string;
  /** The phrase as the reader typed it; `null` for other kinds. */
  readonly text: string | null;
}

export interface Mute extends MuteTarget {
  /** The mute ends at this time; `null`: never. */
  readonly until: Date | null;
}

/** A reader's active mutes at one moment, indexed for matching against many actions. */
export interface ReaderMutes {
  /** Ordered by kind and value, without duplicates. */
  readonly list: readonly Mute[];
  readonly members: ReadonlySet<UserId>;
  readonly refs: ReadonlySet<RefId>;
  readonly types: ReadonlySet<string>;
  readonly phrases: Phrases;
}

/** @param all mutes that ended before `now` are skipped. */
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

export function isMutedMember({ members }: ReaderMutes, userId: UserId): boolean {
  return members.has(userId);
}

/** The person's actions are muted: as a member or, with the same effect, as a ref. */
export function isMutedPerson({ members, refs }: ReaderMutes, id: UserId): boolean {
  return members.has(id) || refs.has(id);
}
