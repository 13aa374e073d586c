import { mustAskFollows } from '../../domain/visibility.ts';
import { isAffectedByBlocks, moderates, type Identity, type ReaderProfile } from '../../domain/viewer.ts';
import { NO_BLOCKS } from '../../domain/block.ts';
import type { OpenedFeed } from '../feed-store.ts';
import type { Known } from '../store/known-answers.ts';
import type { EntryFacts } from './feed-rules.ts';

/** What is made of filters that take more characters is not kept. */
const LONGEST = 500;

/** One read of a list: finds out whether the answer to its first command says all that its page and counts depend on. */
export class ListRead {
  readonly list: string;
  #opening: Promise<OpenedFeed | null> | null = null;
  #opened: OpenedFeed | null = null;
  /** The first answer says all that they depend on, as far as is known. */
  #isEnough: boolean;
  /** Since when what was read of the reader holds; `null`: nothing was decided by it. */
  #asOf: Date | null = null;

  /** @param list tells lists of one reader apart */
  constructor({ identity, list }: { readonly identity: Identity; readonly list: string }) {
    // What a member is shown depends on the roles of the token.
    this.list = JSON.stringify([identity.userId, moderates(identity), isAffectedByBlocks(identity), list]);
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

  /** Equal for reads that decide the same; `null`: it has depended on more than the answer. */
  get version(): string | null {
    const opened = this.#opened;
    // A session that had read its reader before decides by that, which may be older than the answer.
    if (opened === null || !this.#isEnough || opened.read().reader.asOf !== this.#asOf) return null;
    return opened.print();
  }

  /** What the process has made of this answer; `null`: nothing. */
  async known<T extends object>(known: Known<T>, what: string): Promise<T | null> {
    const print = await this.#print();
    return print === null ? null : known.find(`${what} ${this.list}`, print);
  }

  /** What is made of the answer, once if it says all that this depends on. */
  async made<T extends object>(known: Known<T>, what: string, make: () => Promise<T>): Promise<T> {
    const before = await this.known(known, what);
    if (before !== null) return before;
    const made = await make();
    const { version } = this;
    if (version !== null) known.keep(`${what} ${this.list}`, version, made);
    return made;
  }

  async #print(): Promise<string | null> {
    this.#opened = (await this.#opening) ?? null;
    return this.#opened?.print() ?? null;
  }
}

/**
 * Whether the rules need nothing of the reader that their answer does not have: no marks, mutes or follows, and no blocks without
 * their revision.
 */
function isPlain(reader: ReaderProfile): boolean {
  const { hasMarks, hasEnds, checksFollows, mutes, blocks, pulledFollows, floor } = reader;
  const isMarked = hasMarks || hasEnds || checksFollows;
  const isLimited = mutes.list.length > 0 || (blocks !== NO_BLOCKS && blocks.rev === null);
  return !isMarked && !isLimited && pulledFollows.length === 0 && floor === null;
}

/** Whether the action is as it was when its revision was read, and no time or follow changes what the rules say of it. */
function isFixed({ entry, action }: EntryFacts): boolean {
  if (action === null || entry.rev !== action.rev) return false;
  return action.expiresAt === null && !mustAskFollows(action);
}
