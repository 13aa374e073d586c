import { maySee, type ModelAction } from './model.ts';
import { during, expectOutcome, found, session, type Run, type StepTo } from './model-run.ts';
import type { ItemStep } from './model-steps.ts';

export async function bookmark(
  run: Run,
  { do: what, by }: StepTo<'bookmark' | 'unbookmark'>,
  action: ModelAction,
): Promise<void> {
  const { services, repositories } = run.parts;
  const reader = run.reader(by);
  const isSeen = maySee(run.model, reader, action);
  const { instant } = await during(() =>
    expectOutcome(services[what](session(run, by), action.id), isSeen ? null : 'NOT_FOUND'),
  );
  if (!isSeen) return;
  const isKnown = reader.bookmarks.some(({ actionId }) => actionId === action.id);
  if (what === 'unbookmark')
    reader.bookmarks = reader.bookmarks.filter(({ actionId }) => actionId !== action.id);
  else if (!isKnown) {
    const list = await repositories.bookmarks.list(reader.userId, null, 1_000);
    const { at } = found(list.find(({ actionId }) => actionId === action.id));
    reader.bookmarks.push({ actionId: action.id, at: instant(at) });
  }
}

const ITEM_SERVICES = {
  hideItem: 'hideFeedItem',
  unhideItem: 'unhideFeedItem',
  archiveItem: 'archiveFeedItem',
  unarchiveItem: 'unarchiveFeedItem',
} as const satisfies Record<ItemStep, string>;

export async function hideItem(
  run: Run,
  { do: what, by }: StepTo<ItemStep>,
  action: ModelAction,
): Promise<void> {
  const reader = run.reader(by);
  const isSeen = maySee(run.model, reader, action);
  await expectOutcome(
    run.parts.services[ITEM_SERVICES[what]](session(run, by), action.id),
    isSeen ? null : 'NOT_FOUND',
  );
  if (!isSeen) return;
  // Another state replaces the one it has; to undo one leaves the other as it is.
  if (what !== 'unarchiveItem')
    reader.hiddenActionIds = reader.hiddenActionIds.filter((id) => id !== action.id);
  if (what !== 'unhideItem')
    reader.archivedActionIds = reader.archivedActionIds.filter((id) => id !== action.id);
  if (what === 'hideItem') reader.hiddenActionIds.push(action.id);
  if (what === 'archiveItem') reader.archivedActionIds.push(action.id);
}

export async function markItem(
  run: Run,
  { do: what, by }: StepTo<'markItemRead' | 'markItemUnread'>,
  action: ModelAction,
): Promise<void> {
  const { services, repositories } = run.parts;
  const reader = run.reader(by);
  const isSeen = maySee(run.model, reader, action);
  const mark = what === 'markItemRead' ? 'markItemsRead' : 'markItemsUnread';
  const { instant } = await during(() =>
    expectOutcome(services[mark](session(run, by), [action.id]), isSeen ? null : 'NOT_FOUND'),
  );
  if (!isSeen) return;
  reader.unreadActionIds = reader.unreadActionIds.filter((id) => id !== action.id);
  reader.readAt.delete(action.id);
  if (what === 'markItemUnread') reader.unreadActionIds.push(action.id);
  else {
    const [stored] = await repositories.itemMarks.find(reader.userId, [action.id]);
    reader.readAt.set(action.id, instant(stored?.readAt ?? undefined));
  }
}
