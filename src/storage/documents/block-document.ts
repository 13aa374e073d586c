import { Blocks, NO_BLOCKS } from '../../domain/block.ts';
import type { Follow } from '../../domain/viewer.ts';
import { toSpans } from './follow-document.ts';
import type { FollowDocument } from './reader-documents.ts';

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
  /** Since when the other blocks this one. Absent: the other does not. */
  other?: Date;
  /** The attempt of this member to follow one who blocks them. It brings nothing, is shown to them alone, and ends with the block. */
  spans?: FollowDocument['spans'];
  /** The last of the spans is open. */
  isFollowed?: true;
  /** Lists of this member that the attempt is in, as follows are. */
  lists?: string[];
}

/** A block between two, as one of them has it. */
export interface BlockBetween extends BlockId {
  /** This one blocks the other. */
  readonly isOwn: boolean;
  /**
   * The other blocks this one, and did before this one blocked the other. For this one the other is as an id that
   * nobody has. Who has blocked first knows whom. The clocks of two processes may differ by a tenth of a second: of two who block
   * each other within that, either may count as the first. It decides only whether they are shown the name of whom they
   * block, which both knew until then.
   */
  readonly isUnknown: boolean;
  /** The attempt of this member to follow the other, who blocks them. `null`: none. */
  readonly followed: Follow | null;
}

export function toBlockBetween({ _id, own, other, spans, isFollowed, lists }: BlockDocument): BlockBetween {
  return {
    ..._id,
    isOwn: own !== undefined,
    isUnknown: own === undefined || (other !== undefined && other.getTime() <= own.getTime()),
    followed:
      spans === undefined
        ? null
        : {
            ...{ refId: _id.otherId, active: isFollowed === true, spans: toSpans(spans) },
            ...(lists === undefined ? {} : { lists }),
          },
  };
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
