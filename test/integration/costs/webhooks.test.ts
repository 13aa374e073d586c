import { webhookDeliveriesRepository } from '../../../parts/webhooks/src/store.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsOf, stagesOf } from '../../support/commands.ts';
import { eventMover, moveEvents } from '../../support/events.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { startWebhookTarget, type WebhookTarget } from '../../support/webhook-receiver.ts';
import { webhookWorker } from '../../support/webhooks.ts';

/** Enough for a planner to prefer an index over reading everything. */
const MANY = 10_000;

let parts: Parts;
let target: WebhookTarget;
beforeAll(async () => {
  parts = await openParts({ recordsEvents: true, monitorCommands: true });
  target = await startWebhookTarget();
});
afterAll(async () => {
  await parts[Symbol.asyncDispose]();
  await target[Symbol.asyncDispose]();
});

async function namesOf(work: () => Promise<unknown>): Promise<string[]> {
  return (await commandsOf(parts.database, work)).map(({ name, collection }) => `${name} ${collection}`);
}

const LOOK = [
  'findAndModify webhookReceivers',
  'find webhookDeliveries',
  'find eventState',
  'aggregate hostEvents',
];
const byName = (names: readonly string[]): string[] => [...names].sort();

test('events of an action cost its delivery one read of its readers and one write, and nothing else', async () => {
  const costOf = async (recordsEvents: boolean): Promise<string[]> => {
    await using counted = await openParts({ recordsEvents, monitorCommands: true });
    await counted.services.followMany(
      counted.service,
      Array.from({ length: 100 }, (_, n) => ({ followerId: `f${String(n)}`, refId: 'actor' })),
    );
    await counted.feedOf('f0');
    const commands = await commandsOf(counted.database, async () => {
      await counted.publish({});
      await counted.fanOut();
    });
    // What looks for work by the clock does so more or less often.
    const others = commands.filter(
      ({ command }) => !JSON.stringify(command['filter'] ?? {}).includes('rebuild.due'),
    );
    return byName(others.map(({ name, collection }) => `${name} ${collection}`));
  };
  const counts = (names: readonly string[]): Map<string, number> => {
    const found = new Map<string, number>();
    for (const name of names) found.set(name, (found.get(name) ?? 0) + 1);
    return found;
  };
  const [without, with_] = [counts(await costOf(false)), counts(await costOf(true))];
  expect(with_.get('insert actions')).toBe(without.get('insert actions'));
  expect(with_.get('insert newsfeedItems')).toBe(without.get('insert newsfeedItems'));
  expect([without.get('insert eventOutbox'), with_.get('insert eventOutbox')]).toEqual([undefined, 1]);
  const reads = ['feeds', 'itemMarks'].map((name) => `find ${name}`);
  for (const read of reads) expect((with_.get(read) ?? 0) - (without.get(read) ?? 0)).toBeLessThanOrEqual(1);
});

test('moves new events without another write of its lease, and reads only the fields it needs', async () => {
  const { collections } = parts.database;
  await using mover = eventMover(collections);
  // Also the look for what is not kept any longer, once a minute.
  await mover.round(new Date());
  await parts.publish({ descriptor: { posted: { postId: 'p', text: 'x'.repeat(5_000) } } });
  const commands = await commandsOf(parts.database, () => mover.round(new Date(Date.now() + 1_000)));
  const names = commands.map(({ name, collection }) => `${name} ${collection}`);
  expect(names).not.toContain('update eventState');
  expect(names.filter((name) => name.endsWith(' hostEvents')).sort()).toEqual([
    ...['aggregate hostEvents', 'insert hostEvents'],
  ]);
  // Of every kind but the outbox, whose documents are events and nothing else.
  const read = commands.find(({ name, collection }) => `${name} ${collection}` === 'aggregate actions');
  const stages = JSON.stringify(read?.command['pipeline']);
  expect(JSON.parse(stages)).toContainEqual({
    $project: {
      ...{ unsent: 1, unsentAt: 1, actorId: 1, scope: 1, 'descriptor.type': 1 },
      source: { $literal: 'actions' },
    },
  });
  expect(stages.match(/"\$project"/g)).toHaveLength(5);
});

test('looks with four commands when idle, and sends a hundred events with as many as one', async () => {
  const { collections } = parts.database;
  await using worker = webhookWorker(collections, target.receiver);
  await worker.round();
  expect(byName(await namesOf(() => worker.round()))).toEqual(byName(LOOK));
  const sends = [];
  for (const count of [1, 50]) {
    for (let n = 0; n < count; n++) await parts.publish({});
    await moveEvents(collections);
    sends.push(byName(await namesOf(() => worker.round())));
  }
  const sent = [
    'aggregate webhookDeliveries',
    'find hostEvents',
    'find webhookDeliveries',
    'update webhookReceivers',
  ];
  expect(sends).toEqual([byName([...LOOK, ...sent]), byName([...LOOK, ...sent])]);
  expect(target.received).toHaveLength(51);
});

test('finds deliveries by their indexes', async () => {
  const { webhookDeliveries } = parts.database.collections;
  await webhookDeliveries.insertMany(
    Array.from({ length: MANY }, (_, n) => ({
      _id: n.toString(16).padStart(32, '0'),
      ...{ url: `https://h${String(n % 20)}.example`, eventId: String(n), seq: n },
      ...{ type: 'action.hidden' as const, actionId: String(n % 500), attempts: 1 },
      ...(n % 2 === 0
        ? { state: 'RETRYING' as const, nextAttemptAt: new Date(n) }
        : { state: 'FAILED' as const }),
      triedSince: new Date(0),
    })),
  );
  const deliveries = webhookDeliveriesRepository(parts.database.collections);
  const url = 'https://h2.example';
  const place = { seq: 100, id: 'f'.repeat(32) };
  const queries: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['due', () => deliveries.due(url, new Date(50), 10)],
    ['action', () => deliveries.waitingActions(url, ['2', '22'])],
    ['newest', () => deliveries.page('ann', null, { from: place, isUp: false, limit: 10 })],
    ['newest', () => deliveries.page('ann', null, { from: place, isUp: true, limit: 10 })],
    ['newest_by_state', () => deliveries.page('ann', 'FAILED', { from: place, isUp: false, limit: 10 })],
  ];
  for (const [name, query] of queries) {
    const [command] = await commandsOf(parts.database, query);
    if (command === undefined) throw new Error('Nothing was asked');
    await expect
      .poll(async () => (await stagesOf(parts.database, command)).map(({ indexName }) => indexName), {
        ...{ timeout: PATIENCE_MS, interval: 250 },
      })
      .toContain(name);
  }
});
