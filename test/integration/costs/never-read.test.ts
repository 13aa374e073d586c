import { expect, test } from 'vitest';
import { commandsOf } from '../../support/commands.ts';
import { openParts, type PartsOptions } from '../../support/parts.ts';

const DAY_MS = 86_400_000;

/** What passes over further actions to readers who have never read ask of the feeds, after one has told who they are. */
async function workOf(options: PartsOptions): Promise<{ readonly first: string[]; readonly then: string[] }> {
  await using parts = await openParts({ monitorCommands: true, ...options });
  const readers = Array.from({ length: 60 }, (_, n) => `reader-${String(n)}`);
  const pass = async (): Promise<string[]> => {
    await parts.publish({ scope: 'RESTRICTED', recipients: readers });
    const commands = await commandsOf(parts.database, () => parts.fanOut());
    return commands
      .filter(({ collection, command }) => {
        const text = JSON.stringify(command);
        return collection === 'feeds' && text.includes('awaitedSince');
      })
      .map(({ name }) => name);
  };
  return { first: await pass(), then: await pass() };
}

test('readers who have never read are found by one read per chunk, and written once', async () => {
  const off = await workOf({});
  expect(off).toEqual({ first: [], then: [] });
  const { first, then } = await workOf({ neverReadAfterMs: 30 * DAY_MS });
  // Whether anybody has waited for so long is asked once in ten seconds, by index.
  expect(first).toEqual(['find', 'update', 'find']);
  expect(then.filter((name) => name === 'update')).toEqual([]);
  expect(then.length).toBeLessThanOrEqual(2);
  expect(then[0]).toBe('find');
});

test('readers who have waited too long are found by index, without reading all feeds', async () => {
  await using parts = await openParts({ neverReadAfterMs: DAY_MS });
  await parts.publish({ scope: 'RESTRICTED', recipients: ['ann', 'bob'] });
  await parts.fanOut();
  const { feeds } = parts.database.collections;
  const plan = await feeds
    .find({ awaitedSince: { $exists: true, $lt: new Date() } })
    .limit(1)
    .explain('queryPlanner');
  expect(JSON.stringify(plan)).toContain('"awaited"');
});
