import { expect, test } from 'vitest';
import { commandsOf, stagesOf } from '../../support/commands.ts';
import { letMuteEnd, muteEndsWorker } from '../../support/mute-ends.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

const COUNTED = { monitorCommands: true };
const later = () => new Date(Date.now() + 3_600_000);

async function namesOf(parts: Parts, work: () => Promise<unknown>): Promise<string[]> {
  return (await commandsOf(parts.database, work)).map(({ name, collection }) => `${name} ${collection}`);
}

test("a mute and its removal take one write by the reader's key, and one of the stamp", async () => {
  await using parts = await openParts(COUNTED);
  const { services, session } = parts;
  // Enough for a planner to prefer an index over reading everything.
  await parts.database.collections.feeds.insertMany(
    Array.from({ length: 5_000 }, (_, n) => ({ _id: `u${String(n)}` })),
  );
  const ann = () => session('ann');
  const writes = await commandsOf(parts.database, async () => {
    await services.addMute(ann(), { phrase: 'went home' }, later());
    await services.removeMute(ann(), { phrase: 'went home' });
    await services.addMute(ann(), { memberId: 'bob' });
    await services.removeMute(ann(), { memberId: 'bob' });
  });
  expect(writes.map(({ name, collection }) => `${name} ${collection}`)).toEqual([
    ...['findAndModify feeds', 'update readerStamps', 'update feeds', 'update readerStamps'],
    ...['findAndModify feeds', 'update readerStamps', 'update feeds', 'update readerStamps'],
  ]);
  for (const write of writes.filter(({ collection }) => collection === 'feeds'))
    await expect
      .poll(() => stagesOf(parts.database, write), { timeout: PATIENCE_MS, interval: 250 })
      .toSatisfy((stages: Awaited<ReturnType<typeof stagesOf>>) =>
        stages.every(({ stage }) => stage !== 'COLLSCAN'),
      );
});

test('a page takes the same queries, whatever its reader mutes', async () => {
  await using parts = await openParts(COUNTED);
  const { services, session } = parts;
  await services.follow(session('ann'), 'actor', 0);
  await parts.publish({ scope: 'PUBLIC' });
  await parts.fanOut();
  await parts.feedOf('ann');
  const page = () => namesOf(parts, () => services.readFeed(session('ann'), {}));
  const usual = await page();
  for (const target of [{ memberId: 'bob' }, { refId: 'bob' }, { type: 'Posted' }, { phrase: 'rain' }])
    await services.addMute(session('ann'), target, later());
  expect(await page()).toEqual(usual);
});

test('finds ended mutes with one query, and takes three more for all readers', async () => {
  await using parts = await openParts(COUNTED);
  const { services, session } = parts;
  const worker = muteEndsWorker(parts);
  for (const reader of ['ann', 'bob', 'cid'])
    await services.addMute(session(reader), { refId: 'site' }, later());
  const round = () => namesOf(parts, () => worker.round(new Date()));
  expect(await round()).toEqual(['find feeds']);
  for (const reader of ['ann', 'bob']) await letMuteEnd(parts, reader, { kind: 'REF', value: 'site' });
  expect(await round()).toEqual(['find feeds', 'update feeds', 'find feeds', 'update feeds']);
  expect(await round()).toEqual(['find feeds']);
});
