import { afterEach, beforeEach, expect, test } from 'vitest';
import { clock } from '../../../src/lib/clock.ts';
import { signingKey } from '../../../src/domain/signature.ts';
import { NOTIFICATION_KINDS } from '../../../src/domain/notification.ts';
import type { UnreadFacts, HostEventView } from '../../../src/domain/host-event.ts';
import { digestJob } from '../../../parts/events/src/jobs/event-mover.ts';
import { eventMover, moveEvents, poll } from '../../support/events.ts';
import { FAILING, reporting, runnerOf } from '../../support/jobs.ts';
import { startMailer } from '../../support/mailer.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { sendAll, webhookWorker } from '../../support/webhooks.ts';

const HOUR_MS = 3_600_000;
const DIGESTS = { afterMs: 24 * HOUR_MS, everyMs: 48 * HOUR_MS };

let parts: Parts;
/** Hours from now on, by the clock of the workers. */
let hours: number;
beforeEach(async () => {
  parts = await openParts({ recordsEvents: true });
  hours = 0;
});
afterEach(async () => parts[Symbol.asyncDispose]());

const now = (): Date => new Date(Date.now() + hours * HOUR_MS);

async function deliver(...mentions: string[]): Promise<void> {
  await parts.publish({ mentions });
  await parts.fanOut();
  await using mover = eventMover(parts.database.collections, { digests: DIGESTS });
  while (await mover.round(new Date(now().getTime() + 1_000)));
}

async function remind(
  countUnread: (memberId: string) => Promise<UnreadFacts> = count,
  logger = FAILING,
): Promise<void> {
  const worker = runnerOf((setup) => digestJob(setup, DIGESTS.afterMs), parts.core, {
    countUnread,
    logger,
  });
  while (await worker.round(new Date(now().getTime() + 2_000)));
}

function count(memberId: string): Promise<UnreadFacts> {
  return parts.services.countUnread(parts.session(memberId));
}

async function digests(): Promise<readonly unknown[]> {
  await moveEvents(parts.database.collections);
  const views: HostEventView[] = [];
  for await (const view of poll(parts, { after: null })) views.push(view);
  return views.filter(({ type }) => type === 'digest.due').map(({ data }) => data);
}

const due = (memberId: string, count: number) => ({ memberId, unread: { count, isExact: true } });

test('reminds a member who has never read, at most as often as configured, as long as new items arrive', async () => {
  await deliver('ann', 'bob');
  hours = 23;
  await remind();
  expect(await digests()).toEqual([]);
  await deliver('ann');
  hours = 25;
  await Promise.all([remind(), remind()]);
  await remind();
  expect(await digests()).toEqual(expect.arrayContaining([due('ann', 2), due('bob', 1)]));
  expect(await digests()).toHaveLength(2);
  await deliver('ann');
  hours = 25 + 47;
  await remind();
  expect(await digests()).toHaveLength(2);
  hours = 25 + 49;
  await remind();
  expect((await digests()).slice(2)).toEqual([due('ann', 3)]);
  hours = 1_000;
  await remind();
  expect(await digests()).toHaveLength(3);
});

test('reminds only of visible items, no one who has read, and waits during a read', async () => {
  const { services, session, database } = parts;
  const { action } = await parts.publish({ mentions: ['ann', 'bob', 'cid'] });
  await deliver('bob', 'cid');
  await services.markFeedRead(session('bob'), clock.now());
  await services.hideAction(session('admin', 'admin'), action.id, null);
  hours = 20;
  await database.collections.feeds.updateOne({ _id: 'cid' }, { $set: { activeAt: now() } });
  hours = 25;
  await remind();
  expect(await digests()).toEqual([]);
  hours = 45;
  await remind();
  expect(await digests()).toEqual([due('cid', 1)]);
  expect(await database.collections.feeds.countDocuments({ 'digest.due': { $exists: true } })).toBe(0);
});

test('waits for the end of quiet hours, and spares members who want no mail of any kind', async () => {
  const { services, session } = parts;
  const at = (hour: number): string => new Date(Date.now() + hour * HOUR_MS).toISOString().slice(11, 16);
  await services.setQuietHours(session('ann'), { from: at(24), to: at(28), timeZone: 'UTC', days: null });
  const off = NOTIFICATION_KINDS.map((kind) => ({
    kind,
    type: null,
    channel: 'EMAIL' as const,
    isOn: false,
  }));
  await services.setNotificationPreferences(session('bob'), off);
  await services.setNotificationPreferences(session('cid'), off.slice(1));
  await deliver('ann', 'bob', 'cid');
  hours = 26;
  await remind();
  expect(await digests()).toEqual([due('cid', 1)]);
  hours = 29;
  await remind();
  expect((await digests()).slice(1)).toEqual([due('ann', 1)]);
  expect(await parts.database.collections.feeds.countDocuments({ 'digest.due': { $exists: true } })).toBe(0);
});

test('a reader whose items cannot be counted is reminded later, and the others now', async () => {
  // Due in this order, so that nobody stands before ann.
  await deliver('ann');
  hours = 1;
  await deliver('bob');
  hours = 26;
  const broken = new Error('ann cannot be counted');
  const errors: unknown[] = [];
  const countOthers = (memberId: string) => (memberId === 'ann' ? Promise.reject(broken) : count(memberId));
  await remind(
    countOthers,
    reporting((error) => errors.push(error)),
  );
  expect(errors).toEqual([broken]);
  expect(await digests()).toEqual([due('bob', 1)]);
  await remind();
  expect(await digests()).toHaveLength(1);
  hours = 27;
  await remind();
  expect((await digests()).slice(1)).toEqual([due('ann', 1)]);
});

test('an erased member is not reminded, and named in no digest', async () => {
  await deliver('ann');
  hours = 25;
  await remind();
  await moveEvents(parts.database.collections);
  await deliver('bob');
  await parts.services.eraseMember(parts.admin, 'ann');
  await parts.services.eraseMember(parts.admin, 'bob');
  hours = 50;
  await remind();
  const names = (await digests()).map((data) => (data as { memberId: string }).memberId);
  expect(names).toEqual([expect.stringMatching(/^erased:/)]);
});

test('the export of a member contains when they were reminded, and the digest event', async () => {
  await deliver('ann', 'bob');
  hours = 25;
  await remind();
  await moveEvents(parts.database.collections);
  const exported = (await parts.services.memberExport(parts.session('ann', 'admin'), 'ann')) as {
    readonly reader: { readonly digestedAt?: Date };
    readonly events: readonly { readonly type: string; readonly memberId?: string }[];
  };
  expect(exported.reader.digestedAt).toBeInstanceOf(Date);
  expect(exported.events.filter(({ type }) => type === 'digest.due')).toMatchObject([
    { memberId: 'ann', unread: { count: 1, isExact: true } },
  ]);
});

test('the example mails each digest once over SMTP, and rejects unsigned requests', async () => {
  await using mailer = await startMailer({ url: '', tokenOf: () => Promise.reject(new Error('Not needed')) });
  const key = signingKey(mailer.secret) ?? new Uint8Array();
  const target = { url: mailer.url, stream: null, keys: [key], allowPrivateAddress: true };
  const receiver = { ...target, types: null, tenant: null };
  let offset = 0;
  await using worker = webhookWorker(parts.database.collections, receiver, {
    now: () => new Date(Date.now() + offset),
  });
  await worker.round();
  mailer.takesMails = false;
  await deliver('ann', 'bob');
  hours = 25;
  await remind();
  await moveEvents(parts.database.collections);
  await sendAll(worker);
  expect(mailer.mails).toEqual([]);
  mailer.takesMails = true;
  offset = 60_000;
  await sendAll(worker);
  expect(mailer.mails).toHaveLength(1);
  expect(mailer.mails[0]).toContain('To: ann@app.example');
  expect(mailer.mails[0]).toContain('Something new for you');
  expect(await parts.database.collections.webhookDeliveries.countDocuments()).toBe(0);
  // As after a crash: everything comes again.
  await parts.database.collections.webhookReceivers.updateMany({}, { $set: { seq: 0 } });
  await sendAll(worker);
  expect(mailer.mails).toHaveLength(1);
  const forged = await fetch(mailer.url, { method: 'POST', body: '{"type":"digest.due"}' });
  expect(forged.status).toBe(401);
});
