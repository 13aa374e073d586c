import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { senderTo, type Sender } from '../../../parts/webhooks/src/sender.ts';
import { readStreamAddress } from '../../../src/domain/stream-address.ts';
import { EVENT_STREAM_KINDS, startNatsEvents, type TestEventStream } from '../../support/event-streams.ts';
import { HAS_NATS, NATS_NOTE } from '../../support/nats.ts';
import { eventsOf, moveEvents } from '../../support/events.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { movableClock, sendAll, webhookWorker } from '../../support/webhooks.ts';

const HOUR_MS = 3_600_000;
const TIMEOUT_MS = 5_000;

let parts: Parts;
beforeEach(async () => {
  parts = await openParts({ recordsEvents: true });
});
afterEach(async () => parts[Symbol.asyncDispose]());

/** Published, hidden and shown again: three events in order. */
async function tellStories(count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const { action } = await parts.publish({});
    await parts.services.hideAction(parts.session('admin', 'admin'), action.id, null);
    await parts.services.unhideAction(parts.session('admin', 'admin'), action.id);
  }
  await moveEvents(parts.database.collections);
}

const deliveries = () =>
  parts.services
    .listWebhookDeliveries(parts.admin, { first: 100 })
    .then(({ edges }) => edges.map(({ node }) => node));

/** Each event of the log at least once, under its id, and those of an action in order, what is known left out. */
async function expectAll(stream: TestEventStream): Promise<void> {
  const log = await eventsOf(parts);
  const found = new Map((await stream.events()).map(({ id, payload }) => [id, payload]));
  for (const [id, payload] of found) expect(payload.id).toBe(id);
  const actionOf = new Map(log.map(({ id, facts }) => [id, facts.actionId ?? '']));
  // A stable sort, so that those of one action keep their order.
  const byAction = (a: string, b: string): number =>
    (actionOf.get(a) ?? '') < (actionOf.get(b) ?? '') ? -1 : actionOf.get(a) === actionOf.get(b) ? 0 : 1;
  expect([...found.keys()].sort(byAction)).toEqual(log.map(({ id }) => id).sort(byAction));
}

describe.each(EVENT_STREAM_KINDS)('$kind', ({ has, start, dropsKnown }) => {
  test.runIf(has)('has every event as in hostEvents, those of an action in order', async () => {
    await using stream = await start();
    await using worker = webhookWorker(parts.database.collections, stream.receiver);
    await worker.round();
    await tellStories(30);
    await sendAll(worker);
    await expectAll(stream);
    const page = await parts.services.readHostEvents(parts.service, { first: 100 });
    const payloads = (await stream.events()).map(({ payload }) => payload);
    const byId = (a: { readonly id: string }, b: { readonly id: string }) => (a.id < b.id ? -1 : 1);
    expect(payloads.sort(byId)).toEqual(
      page.edges
        .map(({ node: { id, type, at, data } }) => ({ id, type, timestamp: at.toISOString(), data }))
        .sort(byId),
    );
    expect(await deliveries()).toEqual([]);
    expect(await parts.services.listWebhookReceivers(parts.admin)).toMatchObject([
      { url: stream.receiver.url, behind: 0, isSending: true },
    ]);
  });

  test.runIf(has)('that goes away has everything once it is back, at a limited rate', async () => {
    const { now, move } = movableClock();
    let attempts = 0;
    const states: string[] = [];
    await using stream = await start();
    await using worker = webhookWorker(parts.database.collections, stream.receiver, {
      ...{ now, timeoutMs: TIMEOUT_MS },
      observer: {
        attempted: () => (attempts += 1),
        down: () => states.push('down'),
        up: () => states.push('up'),
      },
    });
    await worker.round();
    await tellStories(2);
    await sendAll(worker);
    await stream.kill();
    await tellStories(20);
    attempts = 0;
    for (let minute = 0; minute < 60; minute++) {
      await sendAll(worker);
      move(60_000);
    }
    expect(states).toEqual(['down']);
    expect(attempts).toBeLessThan(160);
    const [first] = await deliveries();
    expect(first).toMatchObject({ url: stream.receiver.url, state: 'RETRYING' });
    await stream.start();
    // The connection is there again after a time of its own: what is sent sooner fails, and is due again later.
    await expect
      .poll(async () => {
        move(HOUR_MS);
        await sendAll(worker);
        return [states.at(-1), ...(await deliveries()).map(({ state }) => state)];
      })
      .toEqual(['up']);
    await expectAll(stream);
  });

  test.runIf(has)('gets what a killed process had sent again under the same id only', async () => {
    await using stream = await start();
    const { collections } = parts.database;
    const { now, move } = movableClock();
    const real = senderTo(stream.receiver, { timeoutMs: TIMEOUT_MS, maxConnections: 8 });
    // The server has it, and the process ends before it knows.
    const killed: Sender = {
      ...real,
      async send(message, signal) {
        await real.send(message, signal);
        return new Promise(() => undefined);
      },
    };
    const one = webhookWorker(collections, stream.receiver, { now, sender: killed });
    await one.round();
    await tellStories(1);
    void one.round();
    await expect.poll(() => stream.events()).toHaveLength(1);
    move(HOUR_MS);
    await using next = webhookWorker(collections, stream.receiver, { now });
    await sendAll(next);
    await expectAll(stream);
    expect(await stream.events()).toHaveLength(dropsKnown ? 3 : 4);
    await real[Symbol.asyncDispose]();
  });
});

test.runIf(HAS_NATS)(`a subject that no stream has is a failure that says so${NATS_NOTE}`, async () => {
  await using stream = await startNatsEvents();
  const url = stream.receiver.url.replace('host.events', 'elsewhere');
  await using worker = webhookWorker(parts.database.collections, {
    ...{ ...stream.receiver, url, stream: readStreamAddress(url) },
  });
  await worker.round();
  await tellStories(1);
  await sendAll(worker);
  const [last] = (await deliveries()).slice(-1);
  expect(last).toMatchObject({ url, error: 'No stream of JetStream has the subject elsewhere' });
});
