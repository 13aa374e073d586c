import { bookmarksOf } from '../../parts/bookmarks/src/use-cases.ts';
import { expect } from 'vitest';
import { clock } from '../../src/lib/clock.ts';
import { highestOf, isSnoozed, maySee, placeOf, type ModelAction, type ModelReader } from './model.ts';
import { toDate } from './model-action-steps.ts';
import { during, expectOutcome, found, session, type Run, type StepTo } from './model-run.ts';
import type { ItemStep, Person } from './model-steps.ts';
import { endSnoozeAt } from './snoozes.ts';

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
    const list = await bookmarksOf(repositories).list(reader.userId, {
      from: null,
      isUp: false,
      limit: 1_000,
    });
    const { at } = found(list.find(({ actionId }) => actionId === action.id));
    reader.bookmarks.push({ actionId: action.id, at: instant(at) });
  }
}

/** Until long after the run. */
const LATER_MS = 3_600_000;

function setItem(run: Run, what: ItemStep, by: Person, id: string): Promise<unknown> {
  const { services } = run.parts;
  const reader = session(run, by);
  switch (what) {
    case 'hideItem':
      return services.hideFeedItem(reader, id);
    case 'unhideItem':
      return services.unhideFeedItem(reader, id);
    case 'archiveItem':
      return services.archiveFeedItem(reader, id);
    case 'unarchiveItem':
      return services.unarchiveFeedItem(reader, id);
    case 'snoozeItem':
      return services.snoozeFeedItem(reader, id, new Date(clock.time() + LATER_MS));
    case 'unsnoozeItem':
      return services.unsnoozeFeedItem(reader, id);
  }
}

export async function hideItem(
  run: Run,
  { do: what, by }: StepTo<ItemStep>,
  action: ModelAction,
): Promise<void> {
  const reader = run.reader(by);
  const isSeen = maySee(run.model, reader, action);
  await expectOutcome(setItem(run, what, by, action.id), isSeen ? null : 'NOT_FOUND');
  if (!isSeen) return;
  // Another state replaces the one it has; to undo one leaves the whose as they are.
  const isSet = what === 'hideItem' || what === 'archiveItem' || what === 'snoozeItem';
  if (isSet || what === 'unhideItem')
    reader.hiddenActionIds = reader.hiddenActionIds.filter((id) => id !== action.id);
  if (isSet || what === 'unarchiveItem')
    reader.archivedActionIds = reader.archivedActionIds.filter((id) => id !== action.id);
  // What has come back from a snooze is not snoozed any more, and keeps its place.
  if (isSet || (what === 'unsnoozeItem' && isSnoozed(reader, action.id))) reader.snoozed.delete(action.id);
  if (what === 'hideItem') reader.hiddenActionIds.push(action.id);
  if (what === 'archiveItem') reader.archivedActionIds.push(action.id);
  if (what === 'snoozeItem') reader.snoozed.set(action.id, Date.now() + LATER_MS);
}

/** As if time had passed. A number picks one of what the reader has snoozed; where that is nothing, they snooze the action. */
export async function endSnooze(run: Run, step: StepTo<'endSnooze'>, action: ModelAction): Promise<void> {
  const { by, at } = step;
  const reader = run.reader(by);
  if (snoozedBy(reader).length === 0)
    await hideItem(run, { do: 'snoozeItem', by, action: step.action }, action);
  const ids = snoozedBy(reader);
  const id = ids[step.action % Math.max(1, ids.length)];
  if (id === undefined) return;
  const until = at === 'now' ? clock.now() : found(toDate(at));
  await endSnoozeAt(run.parts, reader.userId, id, until);
  reader.snoozed.set(id, until.getTime());
}

function snoozedBy(reader: ModelReader): string[] {
  return [...reader.snoozed.keys()].filter((id) => isSnoozed(reader, id));
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
  const before = await services.getNewsfeedItem(session(run, by), action.id);
  await expectOutcome(services[mark](session(run, by), [action.id]), isSeen ? null : 'NOT_FOUND');
  if (!isSeen) return;
  reader.unreadActionIds = reader.unreadActionIds.filter((id) => id !== action.id);
  if (what === 'markItemUnread') {
    reader.readAt.delete(action.id);
    reader.unreadActionIds.push(action.id);
    return;
  }
  const after = await services.getNewsfeedItem(session(run, by), action.id);
  const [stored] = await repositories.itemMarks.findPairs([{ userId: reader.userId, actionId: action.id }]);
  const readAt = found(stored?.readAt).getTime();
  const known = reader.readAt.get(action.id) ?? -Infinity;
  // Where the reader was shown it: what is not delivered yet bumps it afterwards.
  expect(readAt).toBeGreaterThanOrEqual(Math.max(known, before?.relevancy.getTime() ?? -Infinity));
  const shown = before === null ? undefined : after?.relevancy.getTime();
  const most = shown ?? Math.max(highestOf(action), placeOf(run.model, reader, action));
  expect(readAt).toBeLessThanOrEqual(Math.max(known, most));
  reader.readAt.set(action.id, readAt);
}
