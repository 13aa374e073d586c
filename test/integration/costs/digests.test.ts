import { digestsRepository } from '../../../parts/events/src/store/digests.ts';
import { expect, test } from 'vitest';
import type { JobRunner } from '../../../src/jobs/job.ts';
import { digestJob } from '../../../parts/events/src/jobs/event-mover.ts';
import { commandsOf, stagesOf, type RecordedCommand } from '../../support/commands.ts';
import { runnerOf } from '../../support/jobs.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

const HOUR_MS = 3_600_000;
const EVERY_MS = 48 * HOUR_MS;

const namesOf = (commands: readonly RecordedCommand[]): string[] =>
  commands.map(({ name, collection }) => `${name} ${collection}`);

function digestWorker(parts: Parts): JobRunner {
  const countUnread = () => Promise.resolve({ count: 1, isExact: true });
  return runnerOf((setup) => digestJob(setup, 24 * HOUR_MS), parts.core, { countUnread });
}

test('a delivery notes readers for digests by one read and one write per thousand readers, later by the read alone', async () => {
  await using parts = await openParts({ monitorCommands: true, recordsEvents: true });
  const readers = Array.from({ length: 1_001 }, (_, n) => `reader-${String(n)}`);
  const digests = digestsRepository(parts.database.collections);
  const note = async (userIds: readonly string[]) =>
    namesOf(
      await commandsOf(parts.database, () =>
        digests.note(userIds, { dueAt: new Date(Date.now() + 24 * HOUR_MS), everyMs: EVERY_MS }),
      ),
    );
  expect(await note(readers.slice(0, 1_000))).toEqual(['find feeds', 'update feeds']);
  expect(await note(readers.slice(0, 1_000))).toEqual(['find feeds']);
  expect(await note(readers)).toEqual(['find feeds', 'find feeds', 'update feeds']);
});

test('a round looks once by index if no digest is due, and takes three commands per due reader, plus the unread count', async () => {
  await using parts = await openParts({ monitorCommands: true, recordsEvents: true });
  await using worker = digestWorker(parts);
  const digests = digestsRepository(parts.database.collections);
  // Enough for a planner to prefer the index over reading everything, once it has counted them in the background.
  await parts.database.collections.feeds.insertMany(
    Array.from({ length: 5_000 }, (_, n) => ({ _id: `idle-${String(n)}` })),
  );
  const late = new Date(Date.now() + 100 * HOUR_MS);
  const idle = await commandsOf(parts.database, () => worker.round(late));
  expect(namesOf(idle)).toEqual(['find feeds']);
  const [look] = idle;
  if (look === undefined) throw new Error('It has not looked');
  await expect
    .poll(() => stagesOf(parts.database, look), { timeout: PATIENCE_MS, interval: 250 })
    .toContainEqual(expect.objectContaining({ indexName: 'digest' }));
  for (const [count, names] of [
    [1, ['ann']],
    [3, ['bob', 'cid', 'dan']],
  ] as const) {
    await digests.note(names, { dueAt: new Date(), everyMs: EVERY_MS });
    const commands = namesOf(await commandsOf(parts.database, () => worker.round(late)));
    expect(commands).toHaveLength(3 + 3 * count);
    expect(commands.filter((name) => name === 'update feeds')).toHaveLength(1 + count);
    expect(commands.filter((name) => name === 'find notificationStates')).toHaveLength(count);
    expect(commands.filter((name) => name.endsWith(' eventOutbox'))).toHaveLength(count);
  }
});
