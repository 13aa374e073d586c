import type { MuteTarget } from '@fanfare/client';
import type { FanfareItem } from '../item.ts';
import type { Gone } from './actions.ts';
import type { Reader } from './reader.ts';
import { mute, setBlock, unmute } from './standings.ts';

// What a reader does with single items, but for what is said of them: a page that only shows them does without.

/** What a reader can do with an item of a list, what takes it back, and where it is gone from. */
const REMOVALS = {
  hide: ['hideFeedItem', 'unhideFeedItem', 'feed'],
  archive: ['archiveFeedItem', 'unarchiveFeedItem', 'feed'],
  unarchive: ['unarchiveFeedItem', 'archiveFeedItem', 'archived'],
} as const satisfies Readonly<Record<string, readonly [send: string, undo: string, gone: Gone]>>;

/** Takes an item out of its list. @returns what takes that back */
export async function remove(
  reader: Reader,
  item: FanfareItem,
  how: keyof typeof REMOVALS,
): Promise<() => Promise<void>> {
  const [send, undo, gone] = REMOVALS[how];
  const { mutations } = reader.client;
  const of = { actionId: item.action.id };
  const done = (name: typeof send | typeof undo) => (): Promise<unknown> => mutations[name](of);
  return takeOut(reader, of.actionId, done(send), done(undo), gone);
}

/** The item goes at once; what else is muted with it goes when the server says so. @returns what takes that back */
export function muteBy(
  reader: Reader,
  { action }: FanfareItem,
  target: MuteTarget,
  until?: Date,
): Promise<() => Promise<void>> {
  return takeOut(
    reader,
    action.id,
    () => mute(reader, target, until),
    () => unmute(reader, target),
  );
}

/** Whom the item is by. @returns what takes that back */
export function blockAuthor(reader: Reader, { action }: FanfareItem): Promise<() => Promise<void>> {
  const { memberId } = action.actor;
  return takeOut(
    reader,
    action.id,
    () => setBlock(reader, memberId, true),
    () => setBlock(reader, memberId, false),
  );
}

async function takeOut(
  reader: Reader,
  actionId: string,
  send: () => Promise<unknown>,
  undo: () => Promise<unknown>,
  gone: Gone = 'feed',
): Promise<() => Promise<void>> {
  await reader.actions.write(actionId, { gone }, send);
  return () => bringBack(reader, actionId, undo);
}

/** Shows an action in the feed again that was hidden from it. */
export async function unhide(reader: Reader, actionId: string): Promise<void> {
  await bringBack(reader, actionId, () => reader.client.mutations.unhideFeedItem({ actionId }));
}

/** Out of the list until then. @returns what takes that back */
export async function snooze(reader: Reader, item: FanfareItem, until: string): Promise<() => Promise<void>> {
  const { snoozeFeedItem, unsnoozeFeedItem } = reader.client.mutations;
  const actionId = item.action.id;
  return takeOut(
    reader,
    actionId,
    () => snoozeFeedItem({ actionId, until }),
    () => unsnoozeFeedItem({ actionId }),
  );
}

export async function deleteAction(reader: Reader, actionId: string): Promise<void> {
  await reader.actions.write(actionId, { gone: 'everywhere' }, () =>
    reader.client.mutations.deleteAction({ id: actionId }),
  );
}

async function bringBack(reader: Reader, actionId: string, send: () => Promise<unknown>): Promise<void> {
  await reader.actions.write(actionId, {}, async () => {
    await send();
    reader.actions.bringBack(actionId);
  });
  // Where nothing is watched no event brings it.
  for (const feed of reader.feeds.values()) if (feed.options.live === 'off') void feed.refresh();
}
