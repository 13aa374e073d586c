import { mustAskFollows } from '../../domain/visibility.ts';
import { isAffectedByBlocks, moderates, type Identity, type ReaderProfile } from '../../domain/viewer.ts';
import { NO_BLOCKS } from '../../domain/block.ts';
import type { Count } from '../../features/shapes.ts';
import type { OpenedFeed } from '../feed-store.ts';
import type { Known } from '../store/known-counts.ts';
import type { EntryFacts } from './feed-rules.ts';

/** Counts of filters that take more characters are not kept. */
const LONGEST = 500;

/** One read of a list that is counted: finds out whether the answer to it says all that the counts depend on. */
export class CountedRead {
  readonly #counts: Known<Count>;
  readonly #list: string;
  #opening: Promise<OpenedFeed | null> | null = null;
  /** The answer to the first read says all that the count depends on, as far as is known. */
  #isEnough: boolean;
  /** Since when what was read of the reader holds; `null`: nothing was decided by it. */
  #asOf: Date | null = null;

  /** @param list tells lists of one reader apart */
  constructor(
    counts: Known<Count>,
    { identity, list }: { readonly identity: Identity; readonly list: string },
  ) {
    this.#counts = counts;
    // What a member is shown depends on the roles of the token.
    this.#list = JSON.stringify([identity.userId, moderates(identity), isAffectedByBlocks(identity), list]);
    this.#isEnough = list.length <= LONGEST;
  }

  /** Another read for the list. @param opening by the command that reads it from the top; `null`: any other read */
  reads(opening: Promise<OpenedFeed | null> | null): void {
    if (this.#opening !== null || opening === null) this.#isEnough = false;
    else this.#opening = opening;
  }

  /** What was decided for the list. Entries that were `left` out before that depend on something else. */
  decides(reader: ReaderProfile, facts: readonly EntryFacts[], left = 0): void {
    this.#asOf = reader.asOf;
    this.#isEnough &&= left === 0 && isPlain(reader) && facts.every(isFixed);
  }

  /** The count, if the process knows it for this answer. */
  async known(what: string): Promise<Count | null> {
    const print = await this.#print();
    return print === null ? null : this.#counts.find(`${what} ${this.#list}`, print);
  }

  /** The count, made unless it is known. */
  async counted(what: string, count: () => Promise<Count>): Promise<Count> {
    const known = await this.known(what);
    if (known !== null) return known;
    const made = await count();
    const opened = await this.#opening;
    // A session that had read its reader before decides by that, which may be older than the answer.
    if (opened === null || !this.#isEnough || opened.read().reader.asOf !== this.#asOf) return made;
    const print = opened.print();
    if (print !== null) this.#counts.keep(`${what} ${this.#list}`, print, made);
    return made;
  }

  async #print(): Promise<string | null> {
    return (await this.#opening)?.print() ?? null;
  }
}

/** Whether the rules need nothing of the reader that their answer does not have: no marks, mutes, blocks or follows. */
function isPlain(reader: ReaderProfile): boolean {
  const { hasMarks, hasEnds, checksFollows, mutes, blocks, pulledFollows, floor } = reader;
  const isMarked = hasMarks || hasEnds || checksFollows;
  const isLimited = mutes.list.length > 0 || blocks !== NO_BLOCKS;
  return !isMarked && !isLimited && pulledFollows.length === 0 && floor === null;
}

/** Whether the action is as it was when its revision was read, and no time or follow changes what the rules say of it. */
function isFixed({ entry, action }: EntryFacts): boolean {
  if (action === null || entry.rev !== action.rev) return false;
  return action.expiresAt === null && !mustAskFollows(action);
}
