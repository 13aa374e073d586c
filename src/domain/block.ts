import { hash } from 'node:crypto';
import type { UserId } from './action.ts';

/** Upper bound on members whom one member blocks. How many block one member has none. */
export const MAX_BLOCKS = 10_000;

/**
 * Between whom and a reader there is a block, either way, as far as it is known. Others can make the whole grow without end, so it
 * is known of those members that were asked about.
 */
export class Blocks {
  readonly #blocked: Set<UserId>;
  /** Between whom and the reader there is none; `null`: all others. */
  readonly #others: Set<UserId> | null;
  /** Changes with the blocks; `null`: one may be changing, or has been cut off while it was. */
  readonly rev: number | null;

  /** @param blocked all of them, unless `isWhole` is false */
  constructor(
    blocked: Iterable<UserId>,
    { isWhole, rev = null }: { readonly isWhole: boolean; readonly rev?: number | null },
  ) {
    this.#blocked = new Set(blocked);
    this.#others = isWhole ? null : new Set();
    this.rev = rev;
  }

  /** It is known of everybody. */
  get isWhole(): boolean {
    return this.#others === null;
  }

  /** Between whom and the reader there is one, as far as it is known. */
  get known(): readonly UserId[] {
    return [...this.#blocked];
  }

  get size(): number {
    return this.#blocked.size;
  }

  /** Of how many members it is known. */
  get asked(): number {
    return this.#blocked.size + (this.#others?.size ?? 0);
  }

  knows(userId: UserId): boolean {
    return this.#others === null || this.#others.has(userId) || this.#blocked.has(userId);
  }

  learn(userId: UserId, isBlocked: boolean): void {
    if (this.#others === null) return;
    if (isBlocked) this.#blocked.add(userId);
    else this.#others.add(userId);
  }

  /** @throws Error when it is not known: taken for nobody, it would show what it must not. */
  has(userId: UserId): boolean {
    if (!this.knows(userId)) throw new Error('Nobody has asked whether there is a block with this member');
    return this.#blocked.has(userId);
  }
}

/** The blocks of services, moderators and admins, whom blocks do not affect, and of readers who never had one. */
export const NO_BLOCKS: Blocks = new Blocks([], { isWhole: true });

/**
 * The rule of blocks: whether one of the two blocks the other. Then the reader sees nothing that the member did, and not the
 * member either.
 */
export function isBlocked(
  { userId: own, blocks }: { readonly userId: UserId; readonly blocks: Blocks },
  userId: UserId,
): boolean {
  return userId !== own && blocks.has(userId);
}

/** In place of members: so many that they are asked about for each reader. Of whom nobody has asked, it is everybody. */
export const EVERYBODY = '*';

/** Tells members apart without naming them: what has it needs no change when one is erased. */
export function blockTag(userId: UserId): string {
  return hash('sha256', userId, 'base64url').slice(0, 10);
}

/**
 * Whether an action has the id as its author gave it, and no name or details: the member with this id blocked the author when
 * it was written. Names are the same for all readers, and the author is one of them.
 */
export function isUnnamed({ unnamed }: { readonly unnamed?: readonly string[] }, id: string): boolean {
  return unnamed?.includes(blockTag(id)) === true;
}

/** Between whom and the actor of an action there is a block, of those whose ids it has. */
export interface BlockedWithin {
  /** They are not notified, also when the block has ended. */
  readonly inVain: ReadonlySet<UserId>;
  /** The members among them who block the actor: they stay without a name. */
  readonly unnamed: ReadonlySet<UserId>;
}

/**
 * For whom something that a member does has no effect, also later: between them and the member there is a block. So that this stays
 * small, of a member with very many blocks it is not recorded: it is asked for each reader when their place is computed.
 */
export function withoutEffectFor(blocks: Blocks): string[] {
  return blocks.isWhole ? blocks.known.map(blockTag).sort() : [EVERYBODY];
}
