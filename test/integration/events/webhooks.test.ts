import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { signingKey } from '../../../src/domain/signature.ts';
import { webhookDeliveriesRepository } from '../../../parts/webhooks/src/store.ts';
import { refusalOf } from '../../../parts/webhooks/src/webhook.ts';
import { eventMover, eventsOf, moveEvents } from '../../support/events.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { newWebhookSecret, startWebhookTarget, type WebhookTarget } from '../../support/webhook-receiver.ts';
import { cleanRecords, movableClock, sendAll, webhookWorker } from '../../support/webhooks.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let parts: Parts;
beforeEach(async () => {
  parts = await openParts({ recordsEvents: true });
});
afterEach(async () => parts[Symbol.asyncDispose]());

async function publish(count: number, refId = 'actor'): Promise<void> {
  for (let n = 0; n < count; n++) await parts.publish({ actorId: refId });
  await moveEvents(parts.database.collections);
}

const deliveries = () =>
  parts.services
    .listWebhookDeliveries(parts.admin, { first: 100 })
    .then(({ edges }) => edges.map(({ node }) => node));

const idsOf = (target: WebhookTarget): string[] => target.received.map(({ payload }) => payload.id);

async function eventIds(): Promise<string[]> {
  return (await eventsOf(parts)).map(({ id }) => id);
}

test('sends every event as in hostEvents, signed by the specification, once it has started', async () => {
  await publish(1);
  await using target = await startWebhookTarget();
  await using worker = webhookWorker(parts.database.collections, target.receiver);
  await sendAll(worker);
  expect(target.received).toEqual([]);
  await parts.services.follow(parts.session('ann'), 'ref', 0);
  await publish(1);
  await sendAll(worker);
  const page = await parts.services.readHostEvents(parts.service, {});
  const expected = page.edges.slice(1).map(({ node }) => node);
  expect(target.received.map(({ payload }) => payload).sort(byTime)).toEqual(
    expected.map(({ id, type, at, data }) => ({ id, type, timestamp: at.toISOString(), data })),
  );
  for (const request of target.received) {
    expect(request.headers).toMatchObject({
      ...{ 'webhook-id': request.payload.id, 'content-type': 'application/json' },
    });
    target.verify(request);
    expect(() => {
      target.verify(request, newWebhookSecret());
    }).toThrow();
    expect(() => {
      target.verify({ ...request, body: request.body.replace('follow', 'fallow') + ' ' });
    }).toThrow();
  }
  expect(await deliveries()).toEqual([]);
});

function byTime(a: { readonly timestamp: string }, b: { readonly timestamp: string }): number {
  return a.timestamp < b.timestamp ? -1 : 1;
}

test('signs with all secrets, so that a receiver can rotate its own at any time', async () => {
  const [old, fresh] = [newWebhookSecret(), newWebhookSecret()];
  await using target = await startWebhookTarget();
  const keys = [old, fresh].map((secret) => signingKey(secret) ?? new Uint8Array());
  await using worker = webhookWorker(parts.database.collections, { ...target.receiver, keys });
  await worker.round();
  await publish(1);
  await sendAll(worker);
  const [request] = target.received;
  if (request === undefined) throw new Error('Nothing was sent');
  for (const secret of [old, fresh]) target.verify(request, secret);
});

test('sends only the types a receiver asks for, and skips the others', async () => {
  await using target = await startWebhookTarget({ types: ['action.hidden'] });
  await using worker = webhookWorker(parts.database.collections, target.receiver);
  await worker.round();
  const { action } = await parts.publish({});
  await parts.services.hideAction(parts.session('admin', 'admin'), action.id, null);
  await publish(1);
  await sendAll(worker);
  expect(target.received.map(({ payload }) => payload.type)).toEqual(['action.hidden']);
  const stored = await parts.database.collections.webhookReceivers.findOne({ _id: target.url });
  expect(stored?.seq).toBe(3);
});

test('a receiver that answers 500 for an hour gets everything once it works, at a limited rate', async () => {
  const { now, move } = movableClock();
  const states: string[] = [];
  const observer = { down: () => states.push('down'), up: () => states.push('up') };
  await using target = await startWebhookTarget();
  await using worker = webhookWorker(parts.database.collections, target.receiver, { now, observer });
  await worker.round();
  target.answer = 500;
  await publish(60);
  for (let minute = 0; minute < 60; minute++) {
    await sendAll(worker);
    move(MINUTE_MS);
  }
  expect(states).toEqual(['down']);
  const waiting = await deliveries();
  expect(waiting.length).toBeGreaterThan(0);
  // The others wait in the log, and cost nothing.
  expect(waiting.length).toBeLessThan(20);
  for (const delivery of waiting)
    expect(delivery).toMatchObject({
      ...{ url: target.url, state: 'RETRYING', error: 'Answered 500', type: 'action.published' },
    });
  // 10 at once, then each of them a handful of times in an hour.
  expect(target.received.length).toBeLessThan(20 * 8);
  target.answer = 204;
  move(HOUR_MS);
  await sendAll(worker);
  expect(states).toEqual(['down', 'up']);
  expect(new Set(target.taken.keys())).toEqual(new Set(await eventIds()));
  expect(await deliveries()).toEqual([]);
});

test('a receiver that hangs, fails or redirects delays no other', async () => {
  await using elsewhere = await startWebhookTarget();
  await using good = await startWebhookTarget();
  await using hanging = await startWebhookTarget();
  await using failing = await startWebhookTarget();
  await using moved = await startWebhookTarget();
  hanging.answer = 'hang';
  failing.answer = 500;
  moved.answer = (_request, response) => void response.writeHead(307, { location: elsewhere.url }).end();
  // No attempt at the one that hangs ends within this test.
  const workers = [good, hanging, failing, moved].map(({ receiver }) =>
    webhookWorker(parts.database.collections, receiver, { timeoutMs: 600_000 }),
  );
  for (const worker of workers) {
    await worker.round();
    worker.start();
  }
  try {
    await publish(40);
    const ids = await eventIds();
    await expect.poll(() => good.taken.size).toBe(ids.length);
    await expect.poll(() => hanging.received.length).toBe(8);
    await expect.poll(() => failing.received.length >= 10 && moved.received.length >= 10).toBe(true);
    expect(elsewhere.received).toEqual([]);
    // An attempt is recorded a moment after the receiver has it.
    await expect
      .poll(async () => new Set((await deliveries()).map(({ url, error }) => `${url} ${error ?? ''}`)))
      .toEqual(
        new Set([`${failing.url} Answered 500`, `${moved.url} Answered 307: redirects are not followed`]),
      );
  } finally {
    for (const worker of workers) await worker.stop();
  }
  // What was under way has not failed, it goes on elsewhere.
  hanging.answer = 200;
  await using next = webhookWorker(parts.database.collections, hanging.receiver);
  await sendAll(next);
  expect(new Set(hanging.taken.keys())).toEqual(new Set(await eventIds()));
});

test('an unanswered request occupies one slot: events of other actions continue, those of its action wait', async () => {
  await using target = await startWebhookTarget();
  await using worker = webhookWorker(parts.database.collections, target.receiver, {
    ...{ timeoutMs: 600_000, slowAfterMs: 1 },
  });
  await worker.round();
  const held: ServerResponse[] = [];
  let holds = true;
  target.answer = ({ payload }, response) => {
    if (holds && payload.data['actorId'] === 'slow') held.push(response);
    else {
      target.take(payload);
      response.writeHead(200).end();
    }
  };
  const { action } = await parts.publish({ actorId: 'slow' });
  await parts.services.hideAction(parts.session('admin', 'admin'), action.id, null);
  await publish(1, 'first');
  worker.start();
  await expect.poll(() => target.taken.size, { timeout: PATIENCE_MS }).toBe(1);
  // More than places, in later rounds; and what comes of its action waits.
  await publish(20, 'later');
  await expect.poll(() => target.taken.size, { timeout: PATIENCE_MS }).toBe(21);
  expect(held).toHaveLength(1);
  holds = false;
  for (const response of held) response.writeHead(200).end();
  await expect.poll(() => target.taken.size, { timeout: PATIENCE_MS }).toBe(22);
  expect(target.received.at(-1)?.payload.type).toBe('action.hidden');
  await expect.poll(deliveries, { timeout: PATIENCE_MS }).toEqual([]);
  expect(target.received).toHaveLength(23);
});

test('an unanswered retry occupies one slot too, and fails when its time is over', async () => {
  const { now, move } = movableClock();
  await using target = await startWebhookTarget();
  await using worker = webhookWorker(parts.database.collections, target.receiver, {
    ...{ now, timeoutMs: 1_000, slowAfterMs: 1 },
  });
  await worker.round();
  target.answer = 500;
  for (const actorId of ['slow', 'other']) await publish(1, actorId);
  worker.start();
  const attempts = async (): Promise<number[]> => (await deliveries()).map((one) => one.attempts);
  await expect.poll(attempts, { timeout: PATIENCE_MS }).toEqual([1, 1]);
  target.answer = ({ payload }, response) => {
    if (payload.data['actorId'] === 'slow') return;
    target.take(payload);
    response.writeHead(200).end();
  };
  move(MINUTE_MS);
  await expect.poll(() => target.taken.size, { timeout: PATIENCE_MS }).toBe(1);
  await expect
    .poll(deliveries, { timeout: PATIENCE_MS })
    .toMatchObject([{ attempts: 2, error: 'No answer within 1 s' }]);
});

test('a waiting event follows the current settings: it is not sent if its receiver no longer asks for it, and says so', async () => {
  const { now, move } = movableClock();
  await using target = await startWebhookTarget();
  target.answer = 500;
  const givenUp: string[] = [];
  const observer = { givenUp: ({ error }: { readonly error: string }) => givenUp.push(error) };
  {
    await using before = webhookWorker(parts.database.collections, target.receiver, { now });
    await before.round();
    const { action } = await parts.publish({});
    await parts.services.follow(parts.session('ann'), 'ref', 0);
    await parts.services.deleteAction(parts.session('actor'), action.id);
    await moveEvents(parts.database.collections);
    await sendAll(before);
  }
  target.answer = 200;
  const attempted = target.received.length;
  move(HOUR_MS);
  const receiver = { ...target.receiver, types: ['action.deleted'] as const };
  await using after = webhookWorker(parts.database.collections, receiver, { now, observer });
  await sendAll(after);
  expect(target.received.slice(attempted).map(({ payload }) => payload.type)).toEqual(['action.deleted']);
  expect(await deliveries()).toMatchObject([
    {
      type: 'follow.opened',
      state: 'FAILED',
      error: 'The receiver is no longer configured for events of the type follow.opened',
    },
    { type: 'action.published', state: 'FAILED' },
  ]);
  expect(givenUp).toHaveLength(2);
});

test('a waiting event is not sent to a receiver that now belongs to another tenant', () => {
  const event = { type: 'action.published', tenant: 'acme' } as const;
  expect(refusalOf({ types: null, tenant: 'globex' }, event)).toContain('of this tenant');
  expect(refusalOf({ types: null, tenant: 'acme' }, event)).toBeNull();
  expect(refusalOf({ types: ['action.published'], tenant: null }, event)).toBeNull();
});

test('a waiting event of a removed receiver fails with that reason, and cannot be retried', async () => {
  const { collections } = parts.database;
  await using removed = await startWebhookTarget();
  await using kept = await startWebhookTarget();
  for (const target of [removed, kept]) {
    target.answer = 500;
    await using worker = webhookWorker(collections, target.receiver);
    await worker.round();
    await publish(1);
    await sendAll(worker);
  }
  const states = async (): Promise<(string | null)[][]> =>
    (await deliveries()).map(({ url, state, error }) => [url, state, error]).sort();
  const waiting = await states();
  // Another process may have it in its settings, and has for a minute.
  await cleanRecords(collections, [kept.receiver]);
  expect(await states()).toEqual(waiting);
  await collections.webhookReceivers.updateOne({ _id: removed.url }, { $set: { seenAt: new Date(0) } });
  await cleanRecords(collections, [kept.receiver]);
  expect(await states()).toEqual(
    waiting.map(([url, state, error]) =>
      url === removed.url ? [url, 'FAILED', 'The receiver is no longer configured'] : [url, state, error],
    ),
  );
  const failures = await webhookDeliveriesRepository(collections).failed();
  expect(failures).toEqual([{ url: removed.url, error: 'The receiver is no longer configured', count: 1 }]);
  const failed = (await deliveries()).find(({ url }) => url === removed.url);
  await expect(parts.services.retryWebhook(parts.admin, failed?.id ?? '')).rejects.toMatchObject({
    ...{ code: 'CONFLICT', message: expect.stringContaining('No worker has the receiver') },
  });
});

test('an attempt ends at its timeout, also in the middle of a response before its status', async () => {
  await using target = await startWebhookTarget();
  target.answer = 'hang';
  await using worker = webhookWorker(parts.database.collections, target.receiver, { timeoutMs: 50 });
  await worker.round();
  await publish(1);
  await worker.round();
  expect(await deliveries()).toMatchObject([{ attempts: 1, error: 'No answer within 0.05 s' }]);
});

test('a response of any length counts by its status', async () => {
  await using target = await startWebhookTarget();
  target.answer = (request, response) => {
    response.writeHead(200);
    // Never ends.
    const more = (): void => {
      while (response.write('x'.repeat(10_000)) && !response.destroyed);
    };
    response.on('drain', more);
    more();
    expect(request.payload.type).toBe('action.published');
  };
  await using worker = webhookWorker(parts.database.collections, target.receiver);
  await worker.round();
  await publish(3);
  await sendAll(worker);
  expect(target.received).toHaveLength(3);
  expect(await deliveries()).toEqual([]);
});

test('waits as long as a receiver requests, at most an hour', async () => {
  const { now, move } = movableClock();
  await using target = await startWebhookTarget();
  await using worker = webhookWorker(parts.database.collections, target.receiver, { now });
  await worker.round();
  await publish(2);
  target.answer = ({ payload }, response) =>
    void response
      .writeHead(429, { 'retry-after': payload.data['actorId'] === 'patient' ? '120' : '999999999' })
      .end();
  await publish(1, 'patient');
  await sendAll(worker);
  const times = (await deliveries()).map(
    ({ nextAttemptAt }) => (nextAttemptAt?.getTime() ?? 0) - now().getTime(),
  );
  expect(times).toEqual([2 * MINUTE_MS, HOUR_MS, HOUR_MS]);
  target.answer = 200;
  move(HOUR_MS);
  await sendAll(worker);
  expect(target.taken.size).toBe(3);
});

test('later events of an action wait for a failed one, events of other actions do not', async () => {
  const { now, move } = movableClock();
  await using target = await startWebhookTarget();
  await using worker = webhookWorker(parts.database.collections, target.receiver, { now });
  await worker.round();
  const admin = parts.session('admin', 'admin');
  const { action: held } = await parts.publish({ actorId: 'held' });
  const { action: free } = await parts.publish({ actorId: 'free' });
  let fails = true;
  target.answer = ({ payload }, response) => {
    const refuses = fails && payload.type === 'action.published' && payload.data['actorId'] === 'held';
    response.writeHead(refuses ? 503 : 200).end();
  };
  for (const { id } of [held, free]) {
    await parts.services.hideAction(admin, id, null);
    await parts.services.unhideAction(admin, id);
  }
  await moveEvents(parts.database.collections);
  await sendAll(worker);
  await parts.services.deleteAction(admin, held.id);
  await moveEvents(parts.database.collections);
  await sendAll(worker);
  const storyOf = (actorId: string): string[] =>
    target.received
      .filter(({ payload }) => payload.data['actorId'] === actorId)
      .map(({ payload }) => payload.type);
  expect(storyOf('held')).toEqual(['action.published']);
  expect(storyOf('free')).toEqual(['action.published', 'action.hidden', 'action.unhidden']);
  expect((await deliveries()).map(({ type, attempts }) => [type, attempts])).toEqual([
    ['action.deleted', 0],
    ['action.unhidden', 0],
    ['action.hidden', 0],
    ['action.published', 1],
  ]);
  fails = false;
  move(MINUTE_MS);
  await sendAll(worker);
  expect(storyOf('held').slice(1)).toEqual([
    'action.published',
    'action.hidden',
    'action.unhidden',
    'action.deleted',
  ]);
});

test('gives up an event after its time, continues with those behind it, and an admin can retry it', async () => {
  const { now, move } = movableClock();
  const givenUp: string[] = [];
  await using target = await startWebhookTarget();
  await using worker = webhookWorker(parts.database.collections, target.receiver, {
    now,
    observer: { givenUp: ({ eventId }) => givenUp.push(eventId) },
  });
  await worker.round();
  let fails = true;
  target.answer = ({ payload }, response) =>
    void response.writeHead(fails && payload.type === 'action.published' ? 500 : 200).end();
  const { action } = await parts.publish({});
  await parts.services.hideAction(parts.session('admin', 'admin'), action.id, null);
  await moveEvents(parts.database.collections);
  for (let hour = 0; hour < 72; hour++) {
    await sendAll(worker);
    expect(givenUp).toEqual([]);
    move(HOUR_MS);
  }
  await sendAll(worker);
  const [published] = await eventIds();
  expect(givenUp).toEqual([published]);
  expect(target.received.at(-1)?.payload.type).toBe('action.hidden');
  const [failed, ...others] = await deliveries();
  expect(others).toEqual([]);
  expect(failed).toMatchObject({ state: 'FAILED', nextAttemptAt: null, error: 'Answered 500' });
  fails = false;
  const id = failed?.id ?? '';
  expect(await parts.services.retryWebhook(parts.admin, id)).toMatchObject({ state: 'RETRYING' });
  await sendAll(worker);
  expect(target.received.at(-1)?.payload.id).toBe(published);
  expect(await deliveries()).toEqual([]);
  await expect(parts.services.retryWebhook(parts.admin, id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('a retry requested during an attempt that fails is made at once', async () => {
  const { now, move } = movableClock();
  await using target = await startWebhookTarget();
  await using worker = webhookWorker(parts.database.collections, target.receiver, { now });
  await worker.round();
  target.answer = 500;
  await publish(1);
  await sendAll(worker);
  const [delivery] = await deliveries();
  target.answer = (_webhook, response) => {
    target.answer = 200;
    void parts.services
      .retryWebhook(parts.admin, delivery?.id ?? '')
      .then(() => response.writeHead(500).end());
  };
  move(HOUR_MS);
  await sendAll(worker);
  expect(target.received).toHaveLength(3);
  expect(await deliveries()).toEqual([]);
});

test('rejects private addresses by name and by number, before anything is sent', async () => {
  await using target = await startWebhookTarget();
  const port = new URL(target.url).port;
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', '2130706433']) {
    const receiver = {
      ...target.receiver,
      ...{ url: `http://${host}:${port}/events`, allowPrivateAddress: false },
    };
    await using worker = webhookWorker(parts.database.collections, receiver);
    await worker.round();
    await publish(1);
    await sendAll(worker);
  }
  expect(target.received).toEqual([]);
  for (const { error } of await deliveries()) expect(error).toContain('is not allowed');
  expect(await deliveries()).toHaveLength(6);
});

test('one process at a time sends to a receiver, and another one takes over when it ends', async () => {
  await using target = await startWebhookTarget();
  const { collections } = parts.database;
  await using first = webhookWorker(collections, target.receiver);
  await using second = webhookWorker(collections, target.receiver);
  await first.round();
  await publish(2);
  await sendAll(second);
  expect(target.received).toEqual([]);
  await sendAll(first);
  await first.stop();
  await publish(2);
  await sendAll(second);
  expect(idsOf(target)).toHaveLength(4);
  expect(new Set(idsOf(target))).toEqual(new Set(await eventIds()));
});

test('events past their retention are not sent, and this is reported', async () => {
  const skipped: number[] = [];
  await using target = await startWebhookTarget();
  target.answer = 500;
  const { collections } = parts.database;
  await using worker = webhookWorker(collections, target.receiver, {
    observer: { skipped: (events) => skipped.push(events) },
  });
  await worker.round();
  await publish(1);
  await worker.round();
  await publish(3);
  expect(await deliveries()).toHaveLength(1);
  await using mover = eventMover(collections, { retentionMs: HOUR_MS });
  await mover.round(new Date(Date.now() + 1.5 * HOUR_MS));
  await cleanRecords(collections, [target.receiver]);
  expect(await collections.webhookDeliveries.countDocuments()).toBe(0);
  target.answer = 200;
  await sendAll(worker);
  expect(target.received).toHaveLength(1);
  expect(skipped).toEqual([3]);
  await publish(1);
  await sendAll(worker);
  expect(target.received).toHaveLength(2);
});

test('an erased member is not named in events sent later', async () => {
  const { now, move } = movableClock();
  await using target = await startWebhookTarget();
  target.answer = 500;
  await using worker = webhookWorker(parts.database.collections, target.receiver, { now });
  await worker.round();
  await publish(1, 'gone');
  await sendAll(worker);
  await parts.services.eraseMember(parts.admin, 'gone');
  expect(JSON.stringify(await deliveries())).not.toContain('"gone"');
  target.answer = 200;
  move(HOUR_MS);
  await sendAll(worker);
  const [first, ...later] = target.received;
  expect(first?.body).toContain('"gone"');
  expect(later).toHaveLength(1);
  expect(later[0]?.body).toContain('erased:');
  expect(later[0]?.body).not.toContain('"gone"');
});

test('a document stores a limited number of events while no worker moves them, including the first and the last', async () => {
  const { action } = await parts.publish({ scope: 'PUBLIC' });
  const admin = parts.session('admin', 'admin');
  for (let times = 0; times < 60; times++) {
    await parts.services.hideAction(admin, action.id, null);
    await parts.services.unhideAction(admin, action.id);
  }
  await parts.services.deleteAction(admin, action.id);
  await moveEvents(parts.database.collections);
  const types = (await eventsOf(parts)).map(({ type }) => type);
  expect(types).toHaveLength(100);
  expect([types[0], types.at(-1)]).toEqual(['action.published', 'action.deleted']);
});

test('a test event is sent as all others are, and receivers tell how far they are', async () => {
  const send = () => parts.services.sendTestEvent(parts.admin);
  await expect(send()).rejects.toMatchObject({ code: 'CONFLICT' });
  await using target = await startWebhookTarget();
  await using worker = webhookWorker(parts.database.collections, target.receiver);
  await worker.round();
  const receivers = () => parts.services.listWebhookReceivers(parts.admin);
  expect(await receivers()).toMatchObject([{ url: target.url, behind: 0, isSending: true }]);
  const id = await send();
  await moveEvents(parts.database.collections);
  expect(await receivers()).toMatchObject([{ behind: 1 }]);
  await sendAll(worker);
  expect(target.received.map(({ payload }) => payload)).toMatchObject([
    { id, type: 'webhook.test', data: { memberId: parts.admin.userId } },
  ]);
  expect(await receivers()).toMatchObject([{ behind: 0 }]);
  for (const refused of [parts.services.sendTestEvent, parts.services.listWebhookReceivers])
    await expect(refused(parts.service)).rejects.toMatchObject({ code: 'FORBIDDEN' });
});
