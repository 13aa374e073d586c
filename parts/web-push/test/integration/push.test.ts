import { pushRegistrationsRepository } from '../../src/store.ts';
import { decodeJwt } from 'jose';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { encodeActionId, encodeNotificationId } from '../../../../src/domain/node-ids.ts';
import { dueNotifications } from '../../../notifications/src/due.ts';
import { webPush } from '../../part.ts';
import { createPushClient, pushJob } from '../../src/push.ts';
import { notePush } from '../../src/note.ts';
import { type Job, JobRunner } from '../../../../src/jobs/job.ts';
import { configOf } from '../../../../test/support/config.ts';
import { eventMover, eventsOf } from '../../../../test/support/events.ts';
import { FAILING, runnerOf, setupOf, type TestJobSetup } from '../../../../test/support/jobs.ts';
import { type LogFields, type Logger, silentLogger } from '../../../../src/telemetry/logger.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { openParts, type Parts } from '../../../../test/support/parts.ts';
import {
  type Browser,
  PUSH_ENV,
  type PushService,
  startPushService,
} from '../../../../test/support/push-service.ts';

const HOUR_MS = 3_600_000;
const PUSH = {
  publicKey: PUSH_ENV.PUSH_VAPID_PUBLIC_KEY,
  privateKey: PUSH_ENV.PUSH_VAPID_PRIVATE_KEY,
  subject: PUSH_ENV.PUSH_SUBJECT,
};

let parts: Parts;
let service: PushService;
/** Hours from now on, by the clock of the workers. */
let hours: number;
let mentioned: Set<string>;
beforeEach(async () => {
  parts = await openParts({ recordsEvents: true, fields: webPush.core(configOf(PUSH_ENV)) });
  service = await startPushService();
  hours = 0;
  mentioned = new Set();
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
  await parts[Symbol.asyncDispose]();
});

const later = (): Date => new Date(Date.now() + hours * HOUR_MS + 3_000);

/** As if they were public addresses. */
async function register(userId: string, ...browsers: readonly Browser[]): Promise<void> {
  for (const { registration } of browsers)
    await pushRegistrationsRepository(parts.database.collections).register(userId, registration, new Date());
}

/** Mentions them, and decides that they are notified, a minute after the last time if they were before. */
async function mention(...mentions: string[]): Promise<string> {
  if (mentions.some((id) => mentioned.has(id))) hours += 0.02;
  for (const id of mentions) mentioned.add(id);
  const { action } = await parts.publish({ actorId: 'zoe', mentions });
  await decide();
  return action.id;
}

async function decide(): Promise<void> {
  await parts.fanOut();
  const env = { ...PUSH_ENV, NOTIFY_AFTER: '0s' };
  await using mover = eventMover(parts.database.collections, { env });
  while (await mover.round(later()));
  await using worker = runnerOf(dueNotifications, parts.core, { env });
  while (await worker.round(later()));
  while (await mover.round(later()));
}

function sender({
  timeoutMs = 10_000,
  allowPrivateAddress = true,
  ...setup
}: { readonly timeoutMs?: number; readonly allowPrivateAddress?: boolean } & TestJobSetup = {}): Job {
  const client = createPushClient({ ...PUSH, timeoutMs, allowPrivateAddress });
  return pushJob(setupOf(parts.core, setup), client);
}

/** For a failing push service: what is logged of it has a test of its own. */
const CALM = { logger: silentLogger() };

/** One attempt for each browser that is due. */
async function send(options: Parameters<typeof sender>[0] = {}): Promise<void> {
  const job = sender(options);
  await new JobRunner(job, { logger: FAILING }).round(later());
  // Waits for the requests.
  await job.close?.();
}

const left = () => parts.database.collections.pushRegistrations.find().sort({ endpoint: 1 }).toArray();
const bodiesOf = (browser: Browser) => service.received(browser).map(({ body }) => browser.read(body));

test('each browser of a member is sent what concerns them, encrypted for it, without names or texts', async () => {
  const [phone, laptop] = [service.browser('phone'), service.browser('laptop')];
  await register('ann', phone, laptop);
  const actionId = await mention('ann', 'bea');
  await send();
  const id = encodeNotificationId('ann', `MENTION:${actionId}`);
  const message = {
    total: 1,
    notifications: [{ id, kind: 'MENTION', actionId: encodeActionId(actionId), count: 1 }],
  };
  expect(bodiesOf(phone)).toEqual([message]);
  expect(bodiesOf(laptop)).toEqual([message]);
  const headers = service.received(phone)[0]?.headers ?? {};
  expect(headers).toMatchObject({
    'content-encoding': 'aes128gcm',
    ttl: expect.stringMatching(/^86[34]\d\d$/) as string,
  });
  const [, token = '', key] = /^vapid t=([^,]+), k=(.+)$/.exec(headers.authorization ?? '') ?? [];
  expect(key).toBe(PUSH.publicKey);
  expect(decodeJwt(token)).toMatchObject({ aud: service.url, sub: PUSH.subject });
  await send();
  expect(service.received(phone)).toHaveLength(1);
});

test.each([404, 410])(
  'a browser of which the push service answers %i is forgotten, and no other',
  async (status) => {
    const [gone, there] = [service.browser('gone'), service.browser('there')];
    await register('ann', gone, there);
    service.answer(gone, status);
    await mention('ann');
    await send();
    expect((await left()).map(({ endpoint }) => endpoint)).toEqual([there.endpoint]);
    expect(service.received(there)).toHaveLength(1);
  },
);

test.each([
  ['429 with Retry-After', 429, { 'retry-after': '1200' }, 0.3, 0.4],
  ['500', 500, {}, 0, 0.01],
  ['429 that asks for a day: an hour at most', 429, { 'retry-after': '86400' }, 0.9, 1.1],
] as const)('an answer of %s is tried again later', async (_what, status, headers, before, after) => {
  const phone = service.browser('phone');
  await register('ann', phone);
  service.answer(phone, status, headers);
  await mention('ann');
  await send();
  expect(service.received(phone)).toHaveLength(1);
  service.answer(phone, 201);
  hours = before;
  if (before > 0) await send();
  expect(service.received(phone)).toHaveLength(1);
  hours = after;
  await send();
  expect(service.received(phone)).toHaveLength(2);
  expect((await left())[0]).not.toHaveProperty('due');
});

test.each([
  [400, 1],
  [413, 1],
  [401, 0],
  [403, 0],
])(
  'an answer of %i is logged and not tried again: %i of two messages is sent later',
  async (status, others) => {
    const phone = service.browser('phone');
    await register('ann', phone);
    await mention('ann');
    const second = await mention('ann');
    service.answer(phone, status);
    const log: string[] = [];
    await send({ logger: { ...FAILING, warn: (_fields: LogFields, message: string) => log.push(message) } });
    expect(log).toEqual(['Push service refuses messages for good']);
    service.answer(phone, 201);
    hours = 1;
    await send();
    expect(service.received(phone)).toHaveLength(1 + others);
    if (others > 0)
      expect(JSON.stringify(bodiesOf(phone)[1])).toContain(encodeNotificationId('ann', `MENTION:${second}`));
    const [registration] = await left();
    expect(registration).not.toHaveProperty('messages');
    expect(registration).not.toHaveProperty('due');
  },
);

test('a member whose browsers are of many services that do not answer holds four places', async () => {
  await using one = await startPushService();
  await using two = await startPushService();
  const started = [one, two];
  const silent = started.flatMap((at) =>
    Array.from({ length: 4 }, (_, n) => ({ at, browser: at.browser(String(n)) })),
  );
  for (const { at, browser } of silent) at.answer(browser, 'nothing');
  await register('ann', ...silent.map(({ browser }) => browser));
  const phone = service.browser('phone');
  await register('bea', phone);
  await mention('ann');
  await mention('bea');
  await using worker = new JobRunner(sender(), { logger: FAILING });
  while (await worker.round(later()));
  await expect.poll(() => service.received(phone).length).toBe(1);
  await expect
    .poll(() => silent.filter(({ at, browser }) => at.received(browser).length > 0))
    .toHaveLength(4);
  await worker.stop();
});

test('a message is given up after a day, and later ones are sent', async () => {
  const phone = service.browser('phone');
  await register('ann', phone);
  service.answer(phone, 500);
  await mention('ann');
  await send();
  hours = 23;
  await send();
  const second = await mention('ann');
  service.answer(phone, 201);
  hours = 24.5;
  await send(CALM);
  await send();
  const ids = bodiesOf(phone).map((body) =>
    JSON.stringify(body).includes(encodeNotificationId('ann', `MENTION:${second}`)),
  );
  expect(ids).toEqual([false, false, true]);
  expect((await left())[0]).not.toHaveProperty('messages');
});

test('a push service that does not answer keeps no other browser waiting, and its message is sent later', async () => {
  const [silent, phone, other] = [
    service.browser('silent'),
    service.browser('phone'),
    service.browser('other'),
  ];
  await register('ann', silent, phone);
  await register('bea', other);
  service.answer(silent, 'nothing');
  await mention('ann');
  await using worker = new JobRunner(sender(), { logger: FAILING });
  await worker.round(later());
  await expect.poll(() => service.received(phone).length).toBe(1);
  await mention('bea');
  await worker.round(later());
  await expect.poll(() => service.received(other).length).toBe(1);
  expect(service.received(silent)).toHaveLength(1);
  // The process ends before there is an answer.
  await worker.stop();
  service.answer(silent, 201);
  hours = 0.1;
  await send();
  expect(service.received(silent)).toHaveLength(2);
  expect((await left()).filter(({ due }) => due !== undefined)).toEqual([]);
});

test('a push service that does not answer holds four places, and others are sent meanwhile', async () => {
  await using others = await startPushService();
  const silent = Array.from({ length: 20 }, (_, n) => service.browser(String(n)));
  for (const browser of silent) service.answer(browser, 'nothing');
  const phone = others.browser('phone');
  await register('ann', ...silent);
  await register('bea', phone);
  await mention('ann');
  await mention('bea');
  await using worker = new JobRunner(sender(), { logger: FAILING });
  while (await worker.round(later()));
  await expect.poll(() => others.received(phone).length).toBe(1);
  await expect.poll(() => silent.filter((one) => service.received(one).length > 0)).toHaveLength(4);
  await worker.stop();
});

test('a push service that breaks off four times in a row rests, and is then asked once', async () => {
  const broken = Array.from({ length: 7 }, (_, n) => service.browser(String(n)));
  for (const browser of broken) service.answer(browser, 'broken off');
  await register('ann', ...broken);
  await mention('ann');
  const asked = () => broken.flatMap((browser) => service.received(browser)).length;
  const job = sender(CALM);
  await using worker = new JobRunner(job, { logger: FAILING });
  const round = async (): Promise<void> => {
    while (await worker.round(later()));
    // Waits for the requests.
    await job.close?.();
  };
  await round();
  expect(asked()).toBe(4);
  await round();
  expect(asked()).toBe(4);
  hours = 0.1;
  await round();
  expect(asked()).toBe(5);
  hours = 0.2;
  for (const browser of broken) service.answer(browser, 201);
  await round();
  expect(asked()).toBe(6);
  await round();
  expect(asked()).toBe(10);
});

test('the time until the next attempt counts from the end of this one', async () => {
  const phone = service.browser('phone');
  await register('ann', phone);
  service.answer(phone, 429, { 'retry-after': '1200' });
  await mention('ann');
  const { pushRegistrations } = parts.database.collections;
  await pushRegistrations.updateMany({}, { $set: { 'due.due': new Date(Date.now() - HOUR_MS) } });
  const endsAfter = Date.now();
  const job = sender();
  // As if the request had taken ten minutes.
  await new JobRunner(job, { logger: FAILING }).round(new Date(endsAfter - 600_000));
  await job.close?.();
  expect((await left())[0]?.due?.due.getTime()).toBeGreaterThanOrEqual(endsAfter + 1_200_000);
});

test.each([
  ['seen', () => parts.services.markNotificationsSeen(parts.session('ann'), new Date())],
  [
    'switched off',
    () =>
      parts.services.setNotificationPreferences(parts.session('ann'), [
        { kind: 'MENTION', channel: 'PUSH', isOn: false },
      ]),
  ],
  ['blocked', () => parts.services.blockMember(parts.session('ann'), 'zoe')],
  [
    'taken back',
    (actionId: string) => parts.services.deleteAction(parts.session('admin', 'admin'), actionId),
  ],
] as const)('a message that is tried again is not sent if it is %s meanwhile', async (_what, change) => {
  const phone = service.browser('phone');
  await register('ann', phone);
  service.answer(phone, 500);
  const actionId = await mention('ann');
  await send();
  await change(actionId);
  hours = 0.01;
  await send();
  expect(service.received(phone)).toHaveLength(1);
  expect((await left())[0]).not.toHaveProperty('messages');
});

test('a message that is a minute late has what is left of it, and waits for the end of quiet hours', async () => {
  const phone = service.browser('phone');
  await register('ann', phone);
  const first = await parts.publish({ actorId: 'zoe', mentions: ['ann'] });
  const second = await mention('ann');
  await parts.services.markNotificationsRead(parts.session('ann'), {
    upTo: null,
    keys: [`MENTION:${first.action.id}`],
  });
  const at = (after: number): string => new Date(Date.now() + after * HOUR_MS).toISOString().slice(11, 16);
  const quiet = { from: at(-1), to: at(6), timeZone: 'UTC' };
  await parts.services.setQuietHours(parts.session('ann'), quiet);
  hours = 5;
  await send();
  expect(service.received(phone)).toEqual([]);
  // Hours that end earlier: it waits no longer for the end of the others.
  await parts.services.setQuietHours(parts.session('ann'), { ...quiet, to: at(4) });
  await send();
  const id = encodeNotificationId('ann', `MENTION:${second}`);
  expect(bodiesOf(phone)).toMatchObject([{ total: 1, notifications: [{ id }] }]);
});

test('a push service that refuses four times in a row is logged with its answer, and when it takes some again', async () => {
  const phone = service.browser('phone');
  await register('ann', phone);
  const log: string[] = [];
  const note = ({ service: host, error = '' }: LogFields, message: string): void => {
    expect(host).toBe(new URL(service.url).host);
    log.push(`${message.replace(/,.*/, '')} ${String(error)}`.trim());
  };
  const metrics = createMetrics({ withProcess: false });
  const logger: Logger = { ...FAILING, warn: note, info: note };
  const job = sender({ logger, metrics });
  const attempt = async (status: number | 'broken off'): Promise<void> => {
    service.answer(phone, status);
    await new JobRunner(job, { logger: FAILING }).round(later());
    await job.close?.();
    hours += 1;
  };
  await mention('ann');
  for (const status of [503, 503, 'broken off', 503] as const) await attempt(status);
  expect(log).toEqual(['Push service does not take messages Answered 503']);
  await attempt(201);
  const laptop = service.browser('laptop');
  await register('ann', laptop);
  service.answer(laptop, 410);
  await mention('ann');
  await attempt(503);
  hours = 30;
  await attempt(503);
  expect(log.slice(1)).toEqual([
    'Push service takes messages again',
    'Push messages were given up after a day Answered 503',
  ]);
  const counted = (await metrics.metrics()).matchAll(
    /^fanfare_push_messages_total\{outcome="(\w+)"\} (\d+)$/gm,
  );
  expect(Object.fromEntries(Array.from(counted, ([, outcome, count]) => [outcome, Number(count)]))).toEqual({
    ...{ refused: 4, unanswered: 1, taken: 1, given_up: 1, gone: 1 },
  });
});

test('an attempt ends after the time limit', async () => {
  const silent = service.browser('silent');
  await register('ann', silent);
  service.answer(silent, 'nothing');
  await mention('ann');
  await send({ timeoutMs: 50 });
  expect((await left())[0]?.due?.error).toBe('No answer within 0.05 s');
});

test('nothing is sent to an address that is not public', async () => {
  const phone = service.browser('phone');
  await register('ann', phone);
  await mention('ann');
  await send({ allowPrivateAddress: false });
  expect(service.received(phone)).toEqual([]);
  expect((await left())[0]?.due?.error).toMatch(/is not allowed/);
});

test('events that are noted again, in whatever batch, are sent once', async () => {
  const phone = service.browser('phone');
  await register('ann', phone);
  await mention('ann');
  await mention('ann');
  const events = (await eventsOf(parts)).filter(({ type }) => type === 'notification.due');
  expect(events).toHaveLength(2);
  const setup = setupOf(parts.core, { env: PUSH_ENV });
  await notePush(setup, events, later());
  for (let n = 0; n < 2; n += 1) await send();
  await notePush(setup, events, later());
  await send();
  expect(bodiesOf(phone)).toHaveLength(2);
});

test('who signs in with a browser takes it over, with nothing that the other was to be sent', async () => {
  const shared = service.browser('shared');
  await register('ann', shared);
  await mention('ann');
  await register('bea', shared);
  await send();
  expect(service.received(shared)).toEqual([]);
  await mention('ann', 'bea');
  await send();
  expect(bodiesOf(shared)).toHaveLength(1);
});

test('a member has at most 20 browsers, and the newest are kept', async () => {
  const browsers = Array.from({ length: 21 }, (_, n) => service.browser(String(n).padStart(2, '0')));
  for (const [n, { registration }] of browsers.entries())
    await pushRegistrationsRepository(parts.database.collections).register('ann', registration, new Date(n));
  const endpoints = (await left()).map(({ endpoint }) => endpoint);
  expect(endpoints).toEqual(browsers.slice(1).map(({ endpoint }) => endpoint));
});

test('a registration is checked, can be taken back by its member alone, and goes with them', async () => {
  const { services, session } = parts;
  const { p256dh, auth } = service.browser('any').registration;
  const given = { endpoint: 'https://push.example/ann', p256dh, auth };
  for (const wrong of [
    { endpoint: 'http://push.example/ann' },
    { endpoint: 'https://ann:secret@push.example/' },
    { endpoint: `https://push.example/${'a'.repeat(1_024)}` },
    { endpoint: 'push' },
    { p256dh: 'BAAA' },
    { p256dh: Buffer.alloc(65, 4).toString('base64url') },
    { auth: 'AAAA' },
    { endpoint: 'https://push.example*.other.example/one' },
    { endpoint: 'https://push.example/one\r\ntwo' },
    ...[
      'localhost',
      'push.localhost',
      '127.0.0.1',
      '10.0.0.1',
      '0x7f.1',
      '[::1]',
      '169.254.169.254',
      'push',
      'metadata.google.internal',
    ].map((host) => ({ endpoint: `https://${host}/ann` })),
  ])
    await expect(services.registerPush(session('ann'), { ...given, ...wrong })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
    });
  // The same browser, with anything behind #.
  await services.registerPush(session('ann'), { ...given, endpoint: `${given.endpoint}#two` });
  await services.registerPush(session('ann'), given);
  expect(await left()).toHaveLength(1);
  expect(await services.unregisterPush(session('bea'), given.endpoint)).toBe(false);
  expect(await services.unregisterPush(session('ann'), given.endpoint)).toBe(true);
  expect(await left()).toEqual([]);
  await services.registerPush(session('ann'), given);
  const exported = (await services.memberExport(parts.session('ann', 'admin'), 'ann')) as {
    readonly pushRegistrations: readonly object[];
  };
  expect(exported.pushRegistrations).toEqual([{ endpoint: given.endpoint, at: expect.any(Date) as Date }]);
  await services.eraseMember(parts.admin, 'ann');
  expect(await left()).toEqual([]);
});

test('without keys for push messages nobody can register', async () => {
  await using others = await openParts();
  const given = service.browser('any').registration;
  await expect(others.services.registerPush(others.session('ann'), given)).rejects.toMatchObject({
    code: 'CONFLICT',
  });
});
