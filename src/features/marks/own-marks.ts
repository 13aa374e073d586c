import type { ActionId } from '../../domain/action.ts';
import { markAt, type ItemMark } from '../../domain/newsfeed-item.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import { readerActionLoad } from '../../feed/session/load.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';

export const ITEM_MARK = readerActionLoad(({ itemMarks }, pairs) => itemMarks.findPairs(pairs));

/** The reader's marks on these items as of the session's time, in the same order; no query when the reader has no marks. */
export async function marksOf(
  session: ReaderSession,
  { hasMarks, asOf }: ReaderProfile,
  ids: readonly ActionId[],
): Promise<readonly (ItemMark | null)[]> {
  if (!hasMarks) return [];
  const marks = await session.loadMany(ITEM_MARK, ids);
  return marks.map((mark) => (mark === null ? null : markAt(mark, asOf)));
}
