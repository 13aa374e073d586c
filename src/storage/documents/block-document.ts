import { Blocks, NO_BLOCKS } from '../../domain/block.ts';

declare module './declaration.ts' {
  interface Documents {
    readonly blocks: BlockDocument;
  }
}

/** One of two members between whom there is a block. Field order matters: the database compares it as a whole. */
export interface BlockId {
  userId: string;
  otherId: string;
}

/** There is one for each of the two, so that all blocks of a reader, either way, are found by the reader. */
export interface BlockDocument {
  _id: BlockId;
  /** Since when this one blocks the other. Absent: only the other blocks this one. */
  own?: Date;
  /** The other blocks this one. */
  isBlocked?: true;
}

/** Blocks of one reader that are read whole. Of a reader with more, they are looked up member by member. */
export const FEW_BLOCKS = 100;

/**
 * @param found of a reader
 * @param isWhole these are all of them
 */
export function toBlocks(
  found: readonly Pick<BlockDocument, '_id'>[],
  { isWhole, rev = null }: { readonly isWhole: boolean; readonly rev?: number | null },
): Blocks {
  if (found.length === 0 && isWhole && rev === null) return NO_BLOCKS;
  return new Blocks(
    found.map(({ _id }) => _id.otherId),
    { isWhole, rev },
  );
}
