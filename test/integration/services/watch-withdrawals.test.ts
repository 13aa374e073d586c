import { expect, test } from 'vitest';
import { publishSome } from '../../conformance/feed-tools.ts';
import { openLiveList, type LiveList } from '../../support/live-list.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { claimOne } from '../../support/claim-one.ts';

const CAP = 5;
const PUBLISHED = 12;

interface Scene {
  readonly list: LiveList;
  /** In the order of ann's feed: with a cap, what is far down is not stored. */
  readonly ids: readonly string[];
}

/** Somebody watches whose feed holds more than is stored of it. */
async function openScene(parts: Parts): Promise<Scene> {
  await publishSome(parts, PUBLISHED, { refId: 'one' });
  await parts.services.follow(parts.session('ann'), 'one', 1_000);
  const ids = await parts.feedOf('ann');
  // A model may rebuild the feed after this read.
  await parts.fanOut();
  return { list: await openLiveList(parts, parts.session('ann').identity), ids };
}

/** What a process commits that dies right behind it; long enough ago that its pass may begin. */
async function cutOff(parts: Parts, kind: 'HIDE' | 'DELETE', actionId: string): Promise<void> {
  const at = new Date(Date.now() - 60_000);
  await parts.repositories.moderation.apply(actionId, { kind, by: 'admin', at, reason: null });
}

function removalsOf({ events }: LiveList, actionId: string): number {
  return events.filter((event) => event.kind === 'removed' && event.actionId === actionId).length;
}

const CASES = (['HIDE', 'DELETE'] as const).flatMap((kind) =>
  ['items', 'capped', 'redis', 'time-buckets', 'size-buckets', 'top-cache', 'pull'].map((model) => ({
    kind,
    model,
  })),
);

test.each(CASES)(
  'notifies a watcher once of a $kind that was interrupted after its commit, feeds stored by $model',
  async ({ kind, model }) => {
    await using parts = await openParts({ model, cap: CAP });
    const { list, ids } = await openScene(parts);
    await using _closing = list;
    const [first = '', last = ''] = [ids.at(0), ids.at(-1)];
    for (const id of [first, last]) await cutOff(parts, kind, id);
    await parts.fanOut();
    await list.caughtUp();
    expect([...list.shown.keys()].sort()).toEqual([...ids.slice(1, -1)].sort());
    expect([first, last].map((id) => removalsOf(list, id))).toEqual([1, 1]);
  },
);

test.each(['items', 'pull'])(
  'leaves notifying watchers to the commit while it runs, feeds stored by %s',
  async (model) => {
    await using parts = await openParts({ model });
    const { list, ids } = await openScene(parts);
    await using _closing = list;
    const [id = ''] = ids;
    const { liveLog } = parts.live;
    const append = liveLog.append.bind(liveLog);
    const { fanOuts } = parts.repositories;
    const soon = new Date(Date.now() + 1_000);
    const claims: unknown[] = [];
    Object.assign(liveLog, {
      append: async (entries: Parameters<typeof append>[0]) => {
        claims.push(await claimOne(fanOuts, 'early', soon, 30_000));
        await append(entries);
      },
    });
    await parts.services.hideAction(parts.session('admin', 'admin'), id, null);
    Object.assign(liveLog, { append });
    // For their feeds and for their notifications.
    expect(new Set(claims)).toEqual(new Set([null]));
    await parts.fanOut();
    await list.caughtUp();
    expect(removalsOf(list, id)).toBe(1);
  },
);

test.each(['items', 'pull'])(
  'does not notify watchers again when a hidden action is deleted, feeds stored by %s',
  async (model) => {
    await using parts = await openParts({ model });
    const { list, ids } = await openScene(parts);
    await using _closing = list;
    const [id = ''] = ids;
    const admin = parts.session('admin', 'admin');
    await parts.services.hideAction(admin, id, null);
    await parts.fanOut();
    await parts.services.deleteAction(parts.session('admin', 'admin'), id);
    await parts.fanOut();
    await list.caughtUp();
    expect(removalsOf(list, id)).toBe(1);
  },
);

test('notifies watchers once more of an action that was shown again and withdrawn in between', async () => {
  await using parts = await openParts();
  const { list, ids } = await openScene(parts);
  await using _closing = list;
  const [id = ''] = ids;
  const admin = () => parts.session('admin', 'admin');
  await parts.services.hideAction(admin(), id, null);
  await parts.services.unhideAction(admin(), id);
  await cutOff(parts, 'HIDE', id);
  await parts.fanOut();
  await list.caughtUp();
  expect(list.shown.has(id)).toBe(false);
  expect(removalsOf(list, id)).toBe(2);
});
