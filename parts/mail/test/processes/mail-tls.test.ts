import { expect, test } from 'vitest';
import { startTestApp } from '../../../../test/support/app.ts';
import { makeCertificate } from '../../../../test/support/certificate.ts';
import { publish, upsert } from '../../../../test/support/feed-api.ts';
import { PATIENCE_MS } from '../../../../test/support/patience.ts';
import { startFanfare } from '../../../../test/support/processes.ts';
import { openMailer } from '../../src/mailer.ts';
import { mailEnv, mailConfig, startSmtp } from '../support/smtp.ts';

// Certificates of authorities of one's own are read when a process starts.

const WAIT = { timeout: PATIENCE_MS };
const LOGIN = { user: 'feed', pass: 'p@ss word' };
/** This machine, but not by an address that is known not to leave it. */
const ELSEWHERE = '0.0.0.0';

test.each([
  ['smtps://', 'tls', '127.0.0.1'],
  ['smtp:// with STARTTLS', 'starttls', ELSEWHERE],
] as const)(
  'mails go by %s, after a login, and only with a certificate that is trusted',
  async (_what, tls, host) => {
    await using certificate = await makeCertificate();
    await using smtp = await startSmtp({ tls, certificate, login: LOGIN });
    const scheme = tls === 'tls' ? 'smtps' : 'smtp';
    const place = `${encodeURIComponent(LOGIN.user)}:${encodeURIComponent(LOGIN.pass)}@${host}:${String(smtp.port)}`;
    await using app = await startTestApp({
      worker: false,
      env: { ...mailEnv(smtp.port), MAIL_URL: `${scheme}://${place}`, POLL_INTERVAL: '50ms' },
    });
    await upsert(app, { members: [{ memberId: 'ann', name: 'Ann', email: 'ann@people.example' }] });
    await app.query(
      'mutation ($preferences: [NotificationPreferenceInput!]!) { setNotificationPreferences(preferences: $preferences) { memberId } }',
      { preferences: [{ kind: 'MENTION', channel: 'EMAIL', isOn: true }] },
      { sub: 'ann' },
    );
    await publish(app, { actorId: 'zoe', mentions: ['ann'] });
    await using worker = startFanfare(['worker'], { ...app.env, NODE_EXTRA_CA_CERTS: certificate.path });
    await expect.poll(() => smtp.kept.length, WAIT).toBe(1);
    expect(smtp.sessions).toEqual([{ isEncrypted: true, user: LOGIN.user }]);
    expect(worker.log.filter(({ level }) => Number(level) >= 40)).toEqual([]);

    // This process does not know the certificate.
    const { from } = mailConfig(smtp.port);
    const mail = {
      to: 'ann@people.example',
      messageId: 'id@app.example',
      subject: 's',
      text: 't',
      html: 'h',
      headers: {},
    };
    const send = async (server: Parameters<typeof openMailer>[0]['server']) => {
      const mailer = await openMailer({ server, from, timeoutMs: 10_000, maxConnections: 1 });
      try {
        return await mailer.send(mail, new AbortController().signal);
      } finally {
        mailer.close();
      }
    };
    const server = { host, port: smtp.port, isSecure: tls === 'tls', login: LOGIN };
    expect(await send(server)).toMatchObject({ is: 'unanswered' });
    expect([smtp.kept.length, smtp.sessions.length]).toEqual([1, 1]);
  },
);

test('a wrong password is tried again later, and none is sent to a server that does not encrypt', async () => {
  await using smtp = await startSmtp({ login: LOGIN });
  const { from } = mailConfig(smtp.port);
  const mail = {
    to: 'ann@people.example',
    messageId: 'id@app.example',
    subject: 's',
    text: 't',
    html: 'h',
    headers: {},
  };
  const send = async (host: string, pass: string) => {
    const server = { host, port: smtp.port, isSecure: false, login: { ...LOGIN, pass } };
    const mailer = await openMailer({ server, from, timeoutMs: 10_000, maxConnections: 1 });
    try {
      return await mailer.send(mail, new AbortController().signal);
    } finally {
      mailer.close();
    }
  };
  expect(await send('127.0.0.1', 'wrong')).toEqual({ is: 'unanswered', error: '535', isUnknown: false });
  expect([await send('127.0.0.1', LOGIN.pass), smtp.logins]).toEqual([
    { is: 'taken' },
    ['wrong', LOGIN.pass],
  ]);
  // It refuses STARTTLS.
  expect(await send(ELSEWHERE, LOGIN.pass)).toEqual({ is: 'unanswered', error: '500', isUnknown: false });
  expect(smtp.logins).toHaveLength(2);
});
