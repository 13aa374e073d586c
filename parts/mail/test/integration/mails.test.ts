import type { ParsedMail } from 'mailparser';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FAILING, reporting, runnerOf, setupOf, type TestJobSetup } from '../../../../test/support/jobs.ts';
import { openParts, type Parts } from '../../../../test/support/parts.ts';
import { digestJob, events as eventJobs } from '../../../events/src/jobs/event-mover.ts';
import { dueNotifications } from '../../../notifications/src/due.ts';
import { type Job, JobRunner } from '../../../../src/jobs/job.ts';
import { findTopUnread } from '../../../../src/feed/page/unread.ts';
import { silentLogger } from '../../../../src/telemetry/logger.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { examineMails } from '../../src/examine.ts';
import { mailJob } from '../../src/job.ts';
import { type Mailer, openMailer } from '../../src/mailer.ts';
import { addressDigest, mailboxesRepository } from '../../src/store.ts';
import { mailConfig, mailEnv, type Smtp, startSmtp } from '../support/smtp.ts';

const HOUR_MS = 3_600_000;
const DIGESTS = { afterMs: 24 * HOUR_MS, everyMs: 24 * HOUR_MS };

let parts: Parts;
let smtp: Smtp;
/** Hours from now on, by the clock of the workers. */
let hours: number;

beforeEach(async () => {
  parts = await openParts({ recordsEvents: true });
  smtp = await startSmtp();
  hours = 0;
  await parts.services.upsertMembers(parts.service, [
    { memberId: 'zoe', name: 'Zoe <Z>' },
    { memberId: 'ann', name: 'Ann', email: 'ann@people.example' },
    { memberId: 'bea', name: 'Bea', email: 'bea@people.example', locale: 'de-AT', timeZone: 'Europe/Vienna' },
    { memberId: 'cid', name: 'Cid' },
  ]);
  for (const userId of ['ann', 'bea', 'cid'])
    await parts.services.setNotificationPreferences(parts.session(userId), [
      { kind: 'MENTION', channel: 'EMAIL', isOn: true },
      { kind: 'FOLLOW', channel: 'EMAIL', isOn: true },
    ]);
});
afterEach(async () => {
  await smtp[Symbol.asyncDispose]();
  await parts[Symbol.asyncDispose]();
});

const later = (): Date => new Date(Date.now() + hours * HOUR_MS + 3_000);
const mail = () => mailConfig(smtp.port);

/** Mentions them, a minute after the last time at least, and notes what they are to be mailed. */
async function mention(...mentions: string[]): Promise<string> {
  const { action } = await parts.publish({ actorId: 'zoe', mentions });
  await parts.fanOut();
  await decide();
  return action.id;
}

/** Moves the events, decides whom to notify, and moves what that records. */
async function decide(): Promise<void> {
  const events = { digests: DIGESTS, retentionMs: HOUR_MS };
  const move = async (): Promise<void> => {
    await using mover = runnerOf(moverOf, parts.core, { events, env: mailEnv(smtp.port) });
    while (await mover.round(later()));
  };
  await move();
  await using worker = runnerOf(dueNotifications, parts.core, { events, env: mailEnv(smtp.port) });
  while (await worker.round(later()));
  await move();
}

const moverOf: Parameters<typeof runnerOf>[0] = (setup) => {
  const [mover] = eventJobs(setup);
  if (mover === undefined) throw new Error('There is no mover');
  return mover;
};

interface Sending extends TestJobSetup {
  readonly timeoutMs?: number;
  readonly wrapped?: (mailer: Mailer) => Mailer;
}

function sender({ timeoutMs = 10_000, wrapped = (mailer) => mailer, ...setup }: Sending = {}): Job {
  const { server, from } = mail();
  return mailJob(setupOf(parts.core, { env: mailEnv(smtp.port), countUnread, topUnread, ...setup }), mail(), {
    timeoutMs,
    open: async () => wrapped(await openMailer({ server, from, timeoutMs, maxConnections: 5 })),
  });
}

const topUnread = (memberId: string, most: number) =>
  findTopUnread(parts.repositories, parts.session(memberId), most);
const countUnread = (memberId: string) => parts.services.countUnread(parts.session(memberId));
/** For a failing server: what is logged of it has a test of its own. */
const CALM = { logger: silentLogger() };

/** One attempt for each member who is due. */
async function send(options: Sending = {}): Promise<void> {
  const job = sender(options);
  await new JobRunner(job, { logger: options.logger ?? FAILING }).round(later());
  await job.close?.();
}

/** Notes that members are to be sent a digest. */
const note = (...userIds: string[]) =>
  mailboxesRepository(parts.database.collections).note(
    userIds.map((userId) => ({
      ...{ userId, email: `${userId}@people.example`, eventId: `digest of ${userId}`, pending: [] },
      isDigest: true,
    })),
    later(),
  );

const box = (id: string) => parts.database.collections.mailboxes.findOne({ _id: id });
const to = (mails: readonly ParsedMail[]) =>
  mails
    .map((one) =>
      [one.to]
        .flat()
        .map((given) => given?.text)
        .join(),
    )
    .sort();
const idOf = (raw: string): string => /^message-id: (.*)$/im.exec(raw)?.[1] ?? '';

test('who wants mails and has an address is mailed a notification, in their language and zone, once', async () => {
  await mention('ann', 'bea', 'cid');
  await send();
  await send();
  const mails = await smtp.mails();
  expect(to(mails)).toEqual(['ann@people.example', 'bea@people.example']);
  const [english, german] = ['ann', 'bea'].map((name) =>
    mails.find((one) => [one.to].flat().some((given) => given?.text.startsWith(name))),
  );
  expect(english).toMatchObject({
    subject: 'Zoe <Z> mentioned you',
    from: { text: '"Fanfare" <feed@app.example>' },
  });
  expect(german?.subject).toBe('Zoe <Z> hat dich erwähnt');
  const at = (await parts.database.collections.actions.findOne({}))?.recorded ?? new Date();
  const time = (locale: string, timeZone: string) =>
    new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(at);
  for (const [one, said, shown] of [
    [english, 'Zoe <Z> mentioned you', time('en', 'UTC')],
    [german, 'Zoe <Z> hat dich erwähnt', time('de', 'Europe/Vienna')],
  ] as const) {
    expect(one?.text).toContain(`${said}\n\n${shown}\nhttps://app.example/open?id=`);
    expect(one?.html).toContain(shown);
    // What members write is text.
    expect(one?.html).toContain('Zoe &lt;Z&gt;');
    expect(one?.html).not.toContain('<Z>');
    expect(one?.html).not.toMatch(/<img|<script|url\(|src=/);
  }
  expect(english?.headers.get('auto-submitted')).toBe('auto-generated');
  expect(english?.headers.get('content-language')).toBe('en');
  expect(smtp.kept[0]?.replaceAll('\r\n ', ' ')).toMatch(
    /^List-Unsubscribe: <https:\/\/feed\.example\/mail\/unsubscribe\?t=[\w-]+>\r$/m,
  );
  expect(smtp.kept[0]).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
  // Whose link it is cannot be read.
  expect(smtp.kept[0]).not.toContain(Buffer.from('"ann"').toString('base64url').slice(0, 5));
  expect(await box('cid')).toBeNull();
});

test('at most one mail an hour: what comes meanwhile is in the next one, with what is new in the feed', async () => {
  await mention('ann');
  await send();
  hours = 0.1;
  await mention('ann');
  hours = 0.2;
  await mention('ann');
  await note('ann');
  hours = 0.9;
  await send();
  expect(smtp.kept).toHaveLength(1);
  hours = 1.1;
  await send();
  const [, second] = await smtp.mails();
  expect(second?.subject).toBe('Zoe <Z> mentioned you and one more');
  expect(second?.text).toContain('2 things that concern you');
  expect(second?.text).toContain('3 new things for you');
  expect(second?.html).toContain('3 new things for you');
  hours = 50;
  await send();
  expect(smtp.kept).toHaveLength(2);
});

test('a digest says how much is new, and what, and nothing once it was read', async () => {
  await mention('ann', 'bea');
  await send();
  hours = 30;
  const remind = runnerOf((setup) => digestJob(setup, DIGESTS.afterMs), parts.core, { countUnread });
  while (await remind.round(later()));
  await decide();
  await parts.services.markFeedRead(parts.session('ann'), new Date());
  await send();
  const mails = (await smtp.mails()).slice(2);
  expect(to(mails)).toEqual(['bea@people.example']);
  expect(mails[0]).toMatchObject({ subject: 'Eine Neuigkeit für dich' });
  // The time at which it was conducted is between.
  expect(mails[0]?.text).toMatch(
    /^Eine Neuigkeit für dich\n\nZoe <Z> .+\n.+\nhttps:\/\/app\.example\/open\?id=QWN0aW9u\w+%3D%3D\n\nÖffnen: https:\/\/app\.example\/open\?id=\n\n-- \n/,
  );
  // Being mailed is no visit.
  expect((await parts.session('bea').profile()).activeAt).toBeNull();
  expect((await box('ann'))?.due).toBeUndefined();
});

test('what was seen, taken back or switched off before the mail is not in it', async () => {
  const seen = await mention('ann');
  await parts.services.markNotificationsSeen(parts.session('ann'), new Date());
  const hidden = await mention('bea');
  await parts.services.hideAction(parts.session('admin', 'admin'), hidden, null);
  await send();
  expect(smtp.attempts).toEqual([]);
  expect(seen).not.toBe(hidden);
  hours = 2;
  await mention('ann', 'bea');
  await parts.services.setNotificationPreferences(parts.session('ann'), [
    { kind: 'MENTION', channel: 'EMAIL', isOn: false },
  ]);
  await send();
  expect(smtp.attempts).toEqual(['bea@people.example']);
});

test('waits for the end of quiet hours', async () => {
  await mention('ann');
  const at = (hour: number): string => new Date(Date.now() + hour * HOUR_MS).toISOString().slice(11, 16);
  await parts.services.setQuietHours(parts.session('ann'), { from: at(-1), to: at(3), timeZone: 'UTC' });
  await send();
  hours = 2;
  await send();
  expect(smtp.attempts).toEqual([]);
  hours = 3.1;
  await send();
  expect(smtp.kept).toHaveLength(1);
});

test('a digest has the topmost five of what is new, and says how much more there is', async () => {
  for (const title of ['One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven'])
    await parts.publish({
      actorId: 'zoe',
      mentions: ['ann'],
      descriptor: { posted: { postId: title, postTitle: title } },
    });
  await parts.fanOut();
  await note('ann');
  await send();
  const [mailed] = await smtp.mails();
  expect(mailed?.subject).toBe('7 new things for you');
  const titles = [...(mailed?.text ?? '').matchAll(/^Zoe <Z> posted (\w+)$/gm)].map(([, title]) => title);
  expect(titles).toEqual(['Seven', 'Six', 'Five', 'Four', 'Three']);
  expect(mailed?.text).toContain('\n\nand 2 more\n\nOpen: https://app.example/open?id=\n');
  expect(mailed?.html).toContain('posted');
  expect(mailed?.html).not.toContain('Two');
});

test('greylisting is tried again later, and what comes meanwhile is in the same mail', async () => {
  await mention('ann');
  smtp.behaviour = { at: 'RCPT', code: 451, says: '4.7.1 Greylisted <ann@people.example>' };
  await send();
  expect((await box('ann'))?.due).toMatchObject({ error: '451 4.7.1', attempts: 1 });
  smtp.behaviour = 'take';
  // By the clock of the workers it is not time yet, however short the wait is.
  hours = -0.01;
  await send();
  expect(smtp.kept).toHaveLength(0);
  hours = 0.1;
  await mention('ann');
  await send();
  expect(await smtp.mails()).toMatchObject([{ subject: 'Zoe <Z> mentioned you and one more' }]);
  expect(smtp.attempts).toHaveLength(2);
});

test.each([
  ['RCPT', 550, '5.1.1 <ann@people.example> unknown', true],
  ['RCPT', 550, 'No such user here', true],
  ['RCPT', 550, '5.7.1 Blocked', false],
  ['DATA', 554, '5.6.0 Not this one', false],
] as const)(
  'a refusal at %s with %i %s is not tried again; the channel is off: %s',
  async (at, code, says, isOff) => {
    const logged: unknown[] = [];
    const logger = { ...silentLogger(), warn: (fields: object) => void logged.push(fields) };
    await mention('ann');
    smtp.behaviour = { at, code, says };
    await send({ logger });
    smtp.behaviour = 'take';
    hours = 2;
    await send();
    expect(smtp.attempts).toHaveLength(1);
    // Nobody is named.
    expect(JSON.stringify(logged)).not.toContain('ann');
    const { failed, off } = (await box('ann')) ?? {};
    expect(JSON.stringify(failed)).toContain(String(code));
    expect(off?.reason).toBe(isOff ? 'REFUSED' : undefined);
    const examined: unknown[] = [];
    for await (const { detail } of examineMails(parts.database)) examined.push(detail);
    expect(examined).toEqual(isOff ? ['None are sent to 1 member: REFUSED'] : []);
    await mention('ann');
    await send();
    expect(smtp.kept).toHaveLength(isOff ? 0 : 1);
    // Another address is another mailbox.
    await parts.services.upsertMembers(parts.service, [
      { memberId: 'ann', name: 'Ann', email: 'ann@other.example' },
    ]);
    hours = 4;
    await mention('ann');
    await send();
    expect(smtp.attempts.at(-1)).toBe('ann@other.example');
  },
);

test('a server that refuses all mails is tried again, and ends no channel', async () => {
  await mention('ann');
  smtp.behaviour = { at: 'MAIL', code: 550, says: '5.7.1 Sender refused' };
  await send(CALM);
  expect(await box('ann')).toMatchObject({ due: { error: '550 5.7.1' } });
  expect((await box('ann'))?.off).toBeUndefined();
  smtp.behaviour = 'take';
  hours = 0.1;
  await send();
  expect(smtp.kept).toHaveLength(1);
});

test.each(['hang', 'hang at the end', 'close', 'take and close'] as const)(
  'a server that does "%s" holds nothing up, and the mail is sent again as the same one',
  async (behaviour) => {
    await mention('ann');
    smtp.behaviour = behaviour;
    await send({ ...CALM, timeoutMs: 300 });
    const before = smtp.kept.map(idOf);
    expect(before).toHaveLength(behaviour === 'take and close' ? 1 : 0);
    smtp.behaviour = 'take';
    hours = 0.1;
    // It is about what it was about before.
    await mention('ann');
    await send();
    const ids = smtp.kept.map(idOf);
    expect(new Set(ids).size).toBe(1);
    expect(ids).toHaveLength(behaviour === 'take and close' ? 2 : 1);
    for (const one of await smtp.mails()) expect(one.subject).toMatch(/mentioned you$/);
    hours = 2;
    await send();
    expect((await smtp.mails()).at(-1)).toMatchObject({ subject: 'Zoe <Z> mentioned you' });
    expect(smtp.kept).toHaveLength(ids.length + 1);
  },
);

test('a worker that is killed before, while or after it sends: nothing is lost, and what comes twice is the same mail', async () => {
  const kills = [
    {
      mailer: (mailer: Mailer): Mailer => ({ ...mailer, send: () => new Promise(() => undefined) }),
      kept: 0,
    },
    {
      mailer: (mailer: Mailer): Mailer => ({
        ...mailer,
        async send(one, signal) {
          await mailer.send(one, signal);
          reached();
          return new Promise(() => undefined);
        },
      }),
      kept: 1,
    },
  ];
  let reached = (): void => undefined;
  for (const [index, { mailer, kept }] of kills.entries()) {
    hours += 2;
    await mention('ann');
    const before = smtp.kept.length;
    const isThere = kept === 0 ? Promise.resolve() : new Promise<void>((resolve) => (reached = resolve));
    // Nobody waits for its end: it has none.
    await new JobRunner(sender({ wrapped: mailer }), { logger: FAILING }).round(later());
    await isThere;
    await expect.poll(() => smtp.kept.length).toBe(before + kept);
    // Its lease has not expired yet.
    await send();
    expect(smtp.kept).toHaveLength(before + kept);
    hours += 0.1;
    await mention('ann');
    await send();
    const ids = smtp.kept.slice(before).map(idOf);
    expect([index, ids.length, new Set(ids).size]).toEqual([index, kept + 1, 1]);
    hours += 2;
    await send();
    expect((await smtp.mails()).at(-1)?.subject).toBe('Zoe <Z> mentioned you');
    expect(smtp.kept).toHaveLength(before + kept + 2);
  }
});

test('an event that is noted again, also after its mail, causes no other', async () => {
  const { collections } = parts.database;
  const mailboxes = mailboxesRepository(collections);
  const action = await mention('ann');
  const { events = [], pending = [] } = (await box('ann')) ?? {};
  const [eventId = ''] = events;
  const again = { userId: 'ann', email: 'ann@people.example', eventId, pending, isDigest: false };
  await mailboxes.note([again, again], later());
  expect(pending).toEqual([`MENTION:${action}:${action}`]);
  expect(await box('ann')).toMatchObject({ pending, events });
  await send();
  await mailboxes.note([again], later());
  hours = 2;
  await send();
  expect(smtp.kept).toHaveLength(1);
  expect((await box('ann'))?.due).toBeUndefined();
});

test('several workers send each mail once, over connections that are kept', async () => {
  const names = Array.from({ length: 30 }, (_, index) => `m${String(index)}`);
  await parts.services.upsertMembers(
    parts.service,
    names.map((memberId) => ({ memberId, name: memberId, email: `${memberId}@people.example` })),
  );
  for (const name of names)
    await parts.services.setNotificationPreferences(parts.session(name), [
      { kind: 'MENTION', channel: 'EMAIL', isOn: true },
    ]);
  await mention(...names.slice(0, 20));
  const metrics = createMetrics({ withProcess: false });
  await using one = new JobRunner(sender({ metrics }), { logger: FAILING });
  await using other = new JobRunner(sender({ metrics }), { logger: FAILING });
  one.start();
  other.start();
  await expect.poll(() => smtp.kept.length, { timeout: 20_000 }).toBe(20);
  await mention(...names.slice(20));
  await expect.poll(() => smtp.kept.length, { timeout: 20_000 }).toBe(30);
  expect(new Set(smtp.attempts).size).toBe(30);
  expect(smtp.connections).toBeLessThanOrEqual(10);
  await expect.poll(() => metrics.metrics()).toContain('fanfare_mails_total{outcome="taken"} 30');
});

test('who is erased, or whose address is taken back, between the event and the mail gets none', async () => {
  await mention('ann', 'bea');
  await parts.services.eraseMember(parts.admin, 'ann');
  await parts.services.upsertMembers(parts.service, [{ memberId: 'bea', name: 'Bea' }]);
  await send();
  expect(smtp.attempts).toEqual([]);
  expect(await box('ann')).toBeNull();
  expect((await box('bea'))?.due).toBeUndefined();
});

test('a mail that nobody takes for three days is given up, and the next one is sent', async () => {
  const warned: string[] = [];
  const logger = { ...silentLogger(), warn: (_fields: object, message: string) => void warned.push(message) };
  await mention('ann');
  smtp.behaviour = { at: 'RCPT', code: 450, says: '4.2.0 Later' };
  await send();
  hours = 73;
  await send({ logger });
  expect(warned).toEqual(['A mail was given up after three days']);
  expect(await box('ann')).toMatchObject({ failed: { error: '450 4.2.0' } });
  smtp.behaviour = 'take';
  await note('ann');
  await send();
  expect(smtp.kept).toHaveLength(1);
  expect((await box('ann'))?.failed).toBeUndefined();
});

test('what could not be opened is opened with the next attempt', async () => {
  let failures = 1;
  const errors: unknown[] = [];
  const logger = reporting((error) => errors.push(error));
  const job = sender({
    ...{ logger, countUnread: () => Promise.resolve({ count: 1, isExact: true }) },
    wrapped(mailer) {
      if (failures-- <= 0) return mailer;
      mailer.close();
      throw new Error('Not yet');
    },
  });
  const runner = new JobRunner(job, { logger });
  await note('ann');
  for (let round = 0; round < 2; round += 1, hours += 1) {
    await runner.round(later());
    await job.close?.();
  }
  expect(errors).toEqual([new Error('Not yet')]);
  expect(await smtp.mails()).toHaveLength(1);
});

test('a server that never answers is left alone for a while, which is logged once', async () => {
  const warned: string[] = [];
  const logger = { ...silentLogger(), warn: (_fields: object, message: string) => void warned.push(message) };
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  await parts.services.upsertMembers(
    parts.service,
    names.map((memberId) => ({ memberId, name: memberId, email: `${memberId}@people.example` })),
  );
  await note(...names);
  const job = sender({
    logger,
    timeoutMs: 200,
    countUnread: () => Promise.resolve({ count: 1, isExact: true }),
  });
  smtp.behaviour = 'hang';
  const runner = new JobRunner(job, { logger });
  await runner.round(later());
  await job.close?.();
  await runner.round(later());
  expect(smtp.connections).toBe(5);
  expect(warned).toEqual(['The mail server takes no mails, they are tried again']);
});

test('a member whose mail cannot be made is tried again, and holds nobody up', async () => {
  await mention('ann', 'bea');
  const errors: unknown[] = [];
  await note('ann');
  const fault = new Error('cannot be counted');
  await send({
    countUnread: () => Promise.reject(fault),
    logger: reporting((error) => errors.push(error)),
  });
  expect(errors).toEqual([fault]);
  expect(to(await smtp.mails())).toEqual(['bea@people.example']);
  hours = 0.1;
  await send();
  expect(smtp.kept).toHaveLength(2);
});

test('the digest of an address says nothing of how it is written', () => {
  expect(addressDigest('Ann@People.Example')).toBe(addressDigest('ann@people.example'));
});
