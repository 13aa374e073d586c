import type { UserId } from './action.ts';

/** Upper bound on members whom one member blocks. */
export const MAX_BLOCKS = 10_000;

/** Members with whom a reader has nothing to do. Empty for services, moderators and admins, whom blocks do not affect. */
export interface Blocks {
  /** Whom the reader blocks, and who blocks the reader. */
  readonly either: ReadonlySet<UserId>;
  /** Whom the reader blocks. */
  readonly own: ReadonlySet<UserId>;
}

export const NO_BLOCKS: Blocks = { either: new Set(), own: new Set() };

/**
 * The rule of blocks: whether one of the two blocks the other. Then the reader sees nothing that the member did, and not the
 * member either.
 */
export function isBlocked({ blocks }: { readonly blocks: Blocks }, userId: UserId): boolean {
  return blocks.either.has(userId);
}
