import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventsOf, moveEvents } from '../../support/events.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { startWebhookTarget } from '../../support/webhook-receiver.ts';
import { movableClock, webhookWorker } from '../../support/webhooks.ts';

const STEP_MS = 3 * 60_000;
const STEPS = 20;

let parts: Parts;
beforeEach(async () => {
  parts = await openParts({ recordsEvents: true });
});
afterEach(async () => parts[Symbol.asyncDispose]());

const deliveries = () =>
  parts.services
    .listWebhookDeliveries(parts.admin, { first: 100 })
    .then(({ edges }) => edges.map(({ node }) => node));

test('for an hour a working receiver gets each event at once beside three failing ones, which get everything afterwards', async () => {
  const { now, move } = movableClock();
  await using elsewhere = await startWebhookTarget();
  await using good = await startWebhookTarget();
  await using failing = await startWebhookTarget();
  await using hanging = await startWebhookTarget();
  await using moved = await startWebhookTarget();
  failing.answer = 500;
  hanging.answer = 'hang';
  moved.answer = (_request, response) => void response.writeHead(308, { location: elsewhere.url }).end();
  const bad = [
    { target: failing, error: 'Answered 500' },
    { target: hanging, error: 'No answer within 2 s' },
    { target: moved, error: 'Answered 308: redirects are not followed' },
  ];
  const errors = new Map(bad.map(({ target, error }) => [target.url, error]));
  const down = new Set<string>();
  const workers = [good, failing, hanging, moved].map(({ receiver }) =>
    webhookWorker(parts.database.collections, receiver, {
      ...{ now, timeoutMs: receiver.url === hanging.url ? 2_000 : 600_000 },
      observer: { down: () => down.add(receiver.url), up: () => down.delete(receiver.url) },
    }),
  );
  for (const worker of workers) {
    await worker.round();
    worker.start();
  }
  try {
    for (let step = 0; step < STEPS; step++) {
      await parts.publish({ actorId: `actor-${String(step)}` });
      await moveEvents(parts.database.collections);
      // Nothing that waits for its time comes, since the time stands still.
      await expect.poll(() => good.taken.size).toBe((await eventsOf(parts)).length);
      move(STEP_MS);
    }
    await expect.poll(() => [...down].sort()).toEqual([...errors.keys()].sort());
    expect(good.received).toHaveLength(good.taken.size);
    expect(elsewhere.received).toEqual([]);

    const waiting = await deliveries();
    expect(new Set(waiting.map(({ url }) => url))).toEqual(new Set(errors.keys()));
    for (const { url, state, error, nextAttemptAt } of waiting) {
      expect({ url, state, error }).toEqual({ url, state: 'RETRYING', error: errors.get(url) });
      expect(nextAttemptAt).not.toBeNull();
    }

    for (const { target } of bad) {
      target.answer = 200;
      const { id, eventId } = waiting.find(({ url }) => url === target.url) ?? { id: '', eventId: '' };
      expect(await parts.services.retryWebhook(parts.admin, id)).toMatchObject({ id, state: 'RETRYING' });
      // Without the clock: it is due, and what was not sent while it was down follows.
      await expect.poll(() => target.taken.has(eventId)).toBe(true);
    }
    await expect.poll(() => [...down]).toEqual([]);
    const ids = (await eventsOf(parts)).map(({ id }) => id).sort();
    const later = async () => {
      // An attempt that was under way still ends in vain, and is made once more in its time.
      move(STEP_MS);
      const taken = bad.map(({ target }) => [...target.taken.keys()].sort());
      return { taken, waiting: await deliveries() };
    };
    await expect.poll(later, { interval: 500 }).toEqual({ taken: bad.map(() => ids), waiting: [] });
    expect([...good.taken.keys()].sort()).toEqual(ids);
    expect(elsewhere.received).toEqual([]);
  } finally {
    for (const worker of workers) await worker.stop();
  }
});
