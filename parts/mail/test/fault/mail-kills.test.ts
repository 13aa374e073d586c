import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.ts';
import { publish, upsert } from '../../../../test/support/feed-api.ts';
import { PATIENCE_MS } from '../../../../test/support/patience.ts';
import { startFanfare } from '../../../../test/support/processes.ts';
import { mailEnv, type Smtp, startSmtp } from '../support/smtp.ts';

// Processes that send mails are killed where each step of a mail ends: it is reserved, handed over, taken, recorded.

const WAIT = { timeout: PATIENCE_MS };

let smtp: Smtp;
let app: TestApp;
beforeAll(async () => {
  smtp = await startSmtp();
  app = await startTestApp({ worker: false, env: { ...mailEnv(smtp.port), POLL_INTERVAL: '50ms' } });
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await smtp[Symbol.asyncDispose]();
});

const box = (id: string) => app.app.database.collections.mailboxes.findOne({ _id: id });
const mailsTo = async (id: string) =>
  (await smtp.mails()).filter(({ to }) => [to].flat().some((one) => one?.text === `${id}@people.example`));

/** How many mails the server has when the process is killed, and how many more the next one hands over. */
const SEAMS = [
  // The mail server does not greet: nothing was handed over.
  ['reserved', 'hang', 0, 1],
  // It has the mail, and does not say so.
  ['handed over', 'keep and hang', 1, 1],
  // It says that it has the mail, and the process may hear that or not.
  ['taken', 'take', 1, [0, 1]],
  ['recorded', 'take', 1, 0],
] as const;

test.each(SEAMS)(
  'a process that is killed when a mail is %s loses none; what comes twice has one id',
  async (seam, behaviour, kept, more) => {
    const ann = `ann-${seam.replace(' ', '-')}`;
    await upsert(app, { members: [{ memberId: ann, name: 'Ann', email: `${ann}@people.example` }] });
    const { errors } = await app.query(
      'mutation ($preferences: [NotificationPreferenceInput!]!) { setNotificationPreferences(preferences: $preferences) { memberId } }',
      { preferences: [{ kind: 'MENTION', channel: 'EMAIL', isOn: true }] },
      { sub: ann },
    );
    expect(errors).toEqual([]);
    smtp.behaviour = behaviour;
    const before = smtp.connections;
    {
      await using first = startFanfare(['worker'], app.env);
      // At once, in the same step.
      if (seam === 'taken') smtp.onTaken = () => first.kill('SIGKILL');
      await publish(app, { actorId: 'zoe', mentions: [ann] });
      if (seam === 'reserved') await expect.poll(() => smtp.connections, WAIT).toBeGreaterThan(before);
      else await expect.poll(async () => (await mailsTo(ann)).length, WAIT).toBe(1);
      if (seam === 'recorded')
        await expect.poll(async () => (await box(ann))?.sentAt, WAIT).toBeInstanceOf(Date);
      first.kill('SIGKILL');
      expect(await first.exited()).toBeNull();
    }
    smtp.onTaken = undefined;
    expect(await mailsTo(ann)).toHaveLength(kept);
    smtp.behaviour = 'take';
    // As if its lease had expired.
    await app.app.database.collections.mailboxes.updateOne(
      { _id: ann, 'due.owner': { $exists: true } },
      { $set: { 'due.due': new Date() } },
    );
    await using next = startFanfare(['worker'], app.env);
    await next.logged((line) => line['msg'] === 'Fan-out worker started');
    await expect
      .poll(async () => [(await box(ann))?.sentAt instanceof Date, (await box(ann))?.due], WAIT)
      .toEqual([true, undefined]);
    const mails = await mailsTo(ann);
    expect([more].flat()).toContain(mails.length - kept);
    expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(1);
    expect(mails[0]?.subject).toBe('zoe mentioned you');
  },
);
