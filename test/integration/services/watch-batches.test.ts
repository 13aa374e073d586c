import { expect, test } from 'vitest';
import type { FeedEvent } from '../../../src/core/shapes.ts';
import { publishSome } from '../../conformance/feed-tools.ts';
import { commandsOf } from '../../support/commands.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { watching } from '../../support/watching.ts';

const COUNT = 250;
const ann = (parts: Parts) => parts.session('ann').identity;

/** Ann watches, and this many events wait for her. Gives the ids of their actions, in order. */
async function fill(parts: Parts): Promise<string[]> {
  const ids = await publishSome(parts, COUNT, { mentions: ['ann'] });
  await parts.live.liveLog.append(
    ids.map((actionId) => ({
      userId: 'ann',
      event: { kind: 'added', actionId, relevancy: new Date(), reasons: ['MENTION'] },
    })),
  );
  return ids;
}

function idOf(event: FeedEvent): string {
  if (event.kind === 'added' || event.kind === 'updated') return event.item.actionId;
  return event.kind === 'removed' ? `removed ${event.actionId}` : event.kind;
}

async function take(watcher: { next(): Promise<FeedEvent> }, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) ids.push(idOf(await watcher.next()));
  return ids;
}

test('decides waiting events together: few queries for hundreds, each event once and in order', async () => {
  await using parts = await openParts({ monitorCommands: true });
  await using watcher = await watching(parts.services, ann(parts), {});
  const ids = await fill(parts);
  let notified: string[] = [];
  const commands = await commandsOf(parts.database, async () => {
    notified = await take(watcher, COUNT);
  });
  expect(notified).toEqual(ids);
  // One after the other they would be three queries each. A busy machine decides some of them twice.
  expect(commands.length).toBeLessThan(COUNT);
});

test('gives each event a cursor after which exactly the later ones follow', async () => {
  await using parts = await openParts();
  const watcher = await watching(parts.services, ann(parts), {});
  const ids = await fill(parts);
  let cursor = '';
  for (let n = 0; n < 100; n += 1) ({ cursor } = await watcher.next());
  await watcher[Symbol.asyncDispose]();
  await using again = await watching(parts.services, ann(parts), { after: cursor });
  expect(await take(again, COUNT - 100)).toEqual(ids.slice(100));
});

test('decides waiting events again when a removal arrives meanwhile', async () => {
  await using parts = await openParts();
  await using watcher = await watching(parts.services, ann(parts), {});
  const ids = await fill(parts);
  const before = await take(watcher, 40);
  const hidden = ids[COUNT - 1] ?? '';
  const next = ids[40] ?? '';
  await parts.services.hideFeedItem(parts.session('ann'), hidden);
  await parts.services.hideFeedItem(parts.session('ann'), next);
  const after = await take(watcher, COUNT - 40);
  expect(before).toEqual(ids.slice(0, 40));
  expect(after).toEqual([...ids.slice(41, -1), `removed ${hidden}`, `removed ${next}`]);
});

test('sends no waiting event after the watch has ended', async () => {
  await using parts = await openParts();
  const watcher = await watching(parts.services, ann(parts), {});
  await fill(parts);
  await take(watcher, 40);
  watcher.controller.abort();
  expect((await watcher.stream.next()).done).toBe(true);
});
