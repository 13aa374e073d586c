import { expect, test } from 'vitest';
import { createRepositories } from '../../../src/app/repositories.ts';
import { events } from '../../../parts/events/src/jobs/event-mover.ts';
import { eventsOf } from '../../support/events.ts';
import { runnerOf } from '../../support/jobs.ts';
import { openParts } from '../../support/parts.ts';

test('events of writes shortly after each other share a round, and none waits for the poll interval', async () => {
  await using parts = await openParts({ recordsEvents: true });
  const repositories = createRepositories(parts.database.collections, { recordsEvents: true });
  const begun: number[] = [];
  const { collections } = parts.database;
  // A round begins by taking the lease.
  const eventState = new Proxy(collections.eventState, {
    get(target, name: keyof typeof collections.eventState) {
      if (name === 'findOneAndUpdate') begun.push(performance.now());
      return Reflect.get(target, name, target) as unknown;
    },
  });
  const waking = new Set<() => void>();
  await using mover = runnerOf(
    events,
    {
      ...parts.core,
      ...repositories,
      collections: { ...collections, eventState },
      workSignal: {
        notify: () => undefined,
        [Symbol.asyncDispose]: () => Promise.resolve(),
        onWork: (_work, callback) => {
          const wake = (): void => {
            callback({ take: () => Promise.resolve(true) });
          };
          waking.add(wake);
          return { passOn: () => undefined, [Symbol.dispose]: () => void waking.delete(wake) };
        },
      },
    },
    {
      ...{ every: 600_000, fanOut: { pollMs: 600_000 } },
      events: { retentionMs: 86_400_000, digests: null },
    },
  );
  mover.start();
  await expect.poll(() => begun.length).toBe(1);
  for (let count = 0; count < 10; count++) {
    await parts.publish({});
    for (const wake of waking) wake();
  }
  await expect.poll(async () => (await eventsOf(parts)).length).toBe(10);
  const gaps = begun.slice(1).map((at, index) => at - (begun[index] ?? at));
  // A timer may fire a millisecond early.
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(248);
});
