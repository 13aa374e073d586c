import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FAILING, setupOf } from '../../../../test/support/jobs.ts';
import { openParts, type Parts } from '../../../../test/support/parts.ts';
import { checkHostConfig, defineConfig } from '../../../../src/descriptors/host-config.ts';
import { useDescriptors } from '../../../../src/descriptors/registry.ts';
import { JobRunner } from '../../../../src/jobs/job.ts';
import { type LogFields, silentLogger } from '../../../../src/telemetry/logger.ts';
import { type MailContent, MAILS, type WrittenMail } from '../../src/host.ts';
import { mailJob } from '../../src/job.ts';
import { openMailer } from '../../src/mailer.ts';
import { mailboxesRepository } from '../../src/store.ts';
import { mailConfig, type Smtp, startSmtp } from '../support/smtp.ts';

// A process has one configuration.

/** What the host does with the next mail. */
let write: (mail: MailContent) => unknown;
let parts: Parts;
let smtp: Smtp;
let events = 0;

beforeAll(async () => {
  const config = defineConfig({
    mail: (mail) => write(mail) as WrittenMail,
    locales: {
      fr: {
        ...{
          others: '{count, number} autres',
          manyOthers: 'beaucoup d’autres',
          formerMember: 'Ancien membre',
        },
        mail: { digest: '{count, plural, one {Une nouveauté} other {{count, number} nouveautés}} pour vous' },
      },
    },
    notifications: [{ kind: 'OWN', channel: 'EMAIL', isOn: true, isLocked: true }],
  });
  useDescriptors(checkHostConfig(config, 'parts/mail/test/alone/template.test.ts', [MAILS]));
  parts = await openParts({ recordsEvents: true });
  smtp = await startSmtp();
  await parts.services.upsertMembers(parts.service, [
    {
      memberId: 'ann',
      name: 'Ann & Co',
      email: 'ann@people.example',
      locale: 'fr-CA',
      timeZone: 'America/Montreal',
    },
  ]);
});
afterAll(async () => {
  await smtp[Symbol.asyncDispose]();
  await parts[Symbol.asyncDispose]();
});

/** Sends a digest, and returns the mail and what was logged of the template. */
async function digest() {
  events += 1;
  const logged: LogFields[] = [];
  const logger = { ...silentLogger(), error: (fields: LogFields) => void logged.push(fields) };
  const now = new Date(Date.now() + events * 7_200_000);
  await mailboxesRepository(parts.database.collections).note(
    [{ userId: 'ann', email: 'ann@people.example', eventId: String(events), pending: [], isDigest: true }],
    now,
  );
  const { server, from } = mailConfig(smtp.port);
  const setup = setupOf(parts.core, {
    logger,
    countUnread: () => Promise.resolve({ count: 1_234, isExact: true }),
  });
  const job = mailJob(setup, mailConfig(smtp.port), {
    timeoutMs: 10_000,
    open: () => openMailer({ server, from, timeoutMs: 10_000, maxConnections: 1 }),
  });
  await new JobRunner(job, { logger: FAILING }).round(now);
  await job.close?.();
  const raw = smtp.kept.at(-1) ?? '';
  return { raw, mail: await simpleParser(raw), errors: logged.map(({ err }) => String(err)) };
}

test("the configuration's template writes the mail, and the server adds the headers", async () => {
  let content: MailContent | null = null;
  write = (given) => {
    content = given;
    return Promise.resolve({ subject: 'Ünïcode: ☃', text: 'plain', html: '<p>rich</p>' });
  };
  const { raw, mail, errors } = await digest();
  expect(errors).toEqual([]);
  expect(mail).toMatchObject({ subject: 'Ünïcode: ☃', text: 'plain', html: '<p>rich</p>' });
  expect(raw).toMatch(/^List-Unsubscribe-Post: /m);
  expect(content).toEqual({
    ...{ memberId: 'ann', name: 'Ann & Co', locale: 'fr', timeZone: 'America/Montreal' },
    ...{ notifications: [], more: 0, digest: { count: 1_234, isExact: true, items: [] } },
    link: 'https://app.example/open?id=',
    unsubscribe: expect.stringMatching(/^https:\/\/feed\.example\/mail\/unsubscribe\?t=/) as string,
  });
});

const GOOD = { subject: 's', text: 't', html: 'h' };

test.each<[string, (mail: MailContent) => unknown]>([
  [
    'throws',
    () => {
      throw new Error('broken');
    },
  ],
  ['rejects', () => Promise.reject(new Error('broken'))],
  ['never answers', () => new Promise(() => undefined)],
  ['gives nothing', () => undefined],
  ['gives a text', () => 'a mail'],
  ['leaves out the plain text', () => ({ subject: 's', html: 'h' })],
  ['gives a subject with headers', () => ({ ...GOOD, subject: 's\r\nBcc: eve@evil.example' })],
  ['gives an endless text', () => ({ ...GOOD, text: 'x'.repeat(500_001) })],
])('a template that %s does not hold the mail up: it is as the server writes it', async (_what, given) => {
  write = given;
  const before = smtp.attempts.length;
  const { raw, mail, errors } = await digest();
  expect(errors).toHaveLength(1);
  expect(smtp.attempts.slice(before)).toEqual(['ann@people.example']);
  // A language of the host; phrases that it leaves out are in English.
  expect(mail.subject).toBe(`${(1_234).toLocaleString('fr')} nouveautés pour vous`);
  expect(mail.text).toContain('Unsubscribe: https://feed.example/mail/unsubscribe?t=');
  expect(raw).not.toContain('evil');
});

test('what is wrong with a template, or with its phrases, is said at the start', () => {
  const faults = (config: object): unknown => {
    try {
      return checkHostConfig(config, 'fanfare.config.ts', [MAILS]);
    } catch (error) {
      return error;
    }
  };
  const fr = { others: '{count} autres', manyOthers: 'beaucoup', formerMember: 'Ancien' };
  expect(faults({ mial: 'text' })).toMatchObject({
    faults: [{ path: 'mial', message: expect.stringContaining('views, mail, ') as string }],
  });
  expect(faults({ mail: 'text' })).toMatchObject({
    faults: [{ path: 'mail', message: 'Must be a function that writes a mail' }],
  });
  expect(faults({ locales: { fr: { ...fr, mail: { open: 'Ouvrir {what}' } } } })).toMatchObject({
    faults: [{ path: 'locales.fr.mail.open' }],
  });
  expect(faults({ locales: { fr: { ...fr, mail: { opne: 'Ouvrir' } } } })).toMatchObject({
    faults: [{ path: expect.stringContaining('locales.fr.mail') as string }],
  });
});
