import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.ts';
import { publish, upsert } from '../../../../test/support/feed-api.ts';
import { PATIENCE_MS } from '../../../../test/support/patience.ts';
import { endSeal, SEAL_SECRET } from '../../src/token.ts';
import { mailEnv, SECRET, signed, type Smtp, startSmtp } from '../support/smtp.ts';

// Mails of a whole server, and what mail programs and mail providers do with the links and addresses in them.

const OTHER = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const KINDS = ['COMMENT', 'LIKE', 'MENTION'] as const;

let app: TestApp;
let smtp: Smtp;
let people = 0;

beforeAll(async () => {
  smtp = await startSmtp();
  app = await startTestApp({
    env: { ...mailEnv(smtp.port), MAIL_EVENTS_SECRET: `${OTHER}, ${SECRET}` },
  });
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await smtp[Symbol.asyncDispose]();
});

/** Somebody who wants mails about these kinds. */
let ann: string;
beforeEach(async () => {
  people += 1;
  ann = `ann${String(people)}`;
  await upsert(app, { members: [member()] });
  await prefer(KINDS.map((kind) => ({ kind, channel: 'EMAIL', isOn: true })));
});

const member = (more: object = {}) => ({
  ...{ memberId: ann, name: 'Ann', email: `${ann}@people.example`, locale: 'de' },
  ...more,
});

async function prefer(preferences: readonly object[]): Promise<void> {
  const { errors } = await app.query(
    'mutation ($preferences: [NotificationPreferenceInput!]!) { setNotificationPreferences(preferences: $preferences) { memberId } }',
    { preferences },
    { sub: ann },
  );
  expect(errors).toEqual([]);
}

/** Kinds, and types of actions, for which the member is mailed. */
async function mailed(): Promise<string[]> {
  const { data } = await app.query<{
    viewer: {
      notificationPreferences: { kind: string; type: string | null; channel: string; isOn: boolean }[];
    };
  }>('{ viewer { notificationPreferences { kind type channel isOn } } }', {}, { sub: ann });
  return (data?.viewer.notificationPreferences ?? [])
    .filter(({ channel, isOn }) => channel === 'EMAIL' && isOn)
    .map(({ kind, type }) => (type === null ? kind : `${kind} ${type}`))
    .sort();
}

/** The mail about a mention, and the path of its link. */
async function mention(): Promise<{ raw: string; path: string }> {
  await publish(app, { actorId: 'zoe', mentions: [ann] });
  const raw = await expect
    .poll(() => smtp.kept.find((one) => one.includes(`To: ${ann}@people.example`)), { timeout: PATIENCE_MS })
    .toBeDefined()
    .then(() => smtp.kept.find((one) => one.includes(`To: ${ann}@people.example`)) ?? '');
  const [, url = ''] = /^List-Unsubscribe:\s+<(.*)>\r$/m.exec(raw) ?? [];
  expect(url).toMatch(/^https:\/\/feed\.example\/mail\/unsubscribe\?t=[\w-]+$/);
  return { raw, path: url.replace('https://feed.example', '') };
}

const state = async (id = ann) =>
  (
    await app.query<{ mailState: Record<string, unknown> | null }>(
      'query ($id: String!) { mailState(memberId: $id) { hasAddress offReason offSince error digestsOffSince sentAt } }',
      { id },
      { sub: 'admin', roles: ['admin'] },
    )
  ).data?.mailState ?? null;

const linkOf = async (kinds: readonly (typeof KINDS)[number][], more: object = {}): Promise<string> => {
  const seal = endSeal(await app.core.secrets.shared(SEAL_SECRET));
  return `/mail/unsubscribe?t=${seal.seal({ userId: ann, kinds, hasDigest: false, locale: 'de', ...more }, new Date())}`;
};

const post = (path: string, body = 'List-Unsubscribe=One-Click'): Promise<Response> =>
  fetch(new URL(path, app.url), {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body,
  });

test('one POST to the link of a mail ends exactly its kind, without a login, also repeatedly', async () => {
  const { path } = await mention();
  const answers = [await post(path), await post(path)];
  for (const answer of answers) {
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('Es kommen keine Mails mehr über Erwähnungen.');
  }
  expect(await mailed()).toEqual(['COMMENT', 'LIKE']);
});

test('GET asks and changes nothing, since programs open all links of a mail', async () => {
  const path = await linkOf(['MENTION', 'LIKE']);
  const answer = await fetch(new URL(path, app.url));
  const page = await answer.text();
  expect(answer.status).toBe(200);
  expect(page).toContain('Keine Mails mehr über Erwähnungen und Gefällt-mir-Angaben?');
  expect(page).toMatch(/<form method="post"><button>Abbestellen<\/button><\/form>/);
  expect(page).not.toMatch(/<script|<img|people\.example|ann\d/);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'content-security-policy': expect.stringContaining("default-src 'none'") as string,
  });
  expect(await mailed()).toEqual([...KINDS]);
});

test('types that the member has switched on for this kind end as well, and nothing else', async () => {
  await prefer([
    { kind: 'LIKE', type: 'Custom', channel: 'EMAIL', isOn: true },
    { kind: 'COMMENT', type: 'Custom', channel: 'EMAIL', isOn: true },
  ]);
  await post(await linkOf(['LIKE']));
  expect(await mailed()).toEqual(['COMMENT', 'COMMENT Custom', 'MENTION']);
});

test('the link of a digest ends digests, until the member wants them again', async () => {
  await post(await linkOf([], { hasDigest: true }));
  const first = await state();
  expect(first).toMatchObject({ digestsOffSince: expect.any(String) as string, offReason: null });
  await post(await linkOf([], { hasDigest: true }));
  expect(await state()).toEqual(first);
  expect(await mailed()).toEqual([...KINDS]);
  const { data } = await app.query('mutation { resumeMails { digestsOffSince } }', {}, { sub: ann });
  expect(data).toEqual({ resumeMails: { digestsOffSince: null } });
});

test('who is not known, or was erased since, is answered alike, and nothing is stored', async () => {
  const usual = await (await post(await linkOf(['LIKE']))).text();
  const path = await linkOf(['MENTION']);
  await app.services.eraseMember(app.identity('admin', 'admin'), ann);
  await app.idle();
  // Somebody else may have the id then.
  await expect.poll(async () => (await upserted()).errors, { timeout: PATIENCE_MS }).toEqual([]);
  await prefer([{ kind: 'MENTION', channel: 'EMAIL', isOn: true }]);
  expect((await post(path)).status).toBe(200);
  expect(await mailed()).toEqual(['MENTION']);
  const unknown = await linkOf(['LIKE'], { userId: 'nobody' });
  expect(await (await post(unknown)).text()).toBe(usual);
  const { notificationStates, mailboxes } = app.app.database.collections;
  expect(await notificationStates.countDocuments({ _id: 'nobody' })).toBe(0);
  expect(await mailboxes.countDocuments({ _id: 'nobody' })).toBe(0);
});

const upserted = () =>
  app.query(
    'mutation ($members: [MemberInput!]!) { upsertMembers(members: $members) }',
    { members: [member()] },
    { sub: 'host', roles: ['service'] },
  );

test('a link that was changed, cut or made by others is refused, and says so in the language of the browser', async () => {
  const path = await linkOf(['LIKE']);
  const token = path.slice(path.indexOf('=') + 1);
  const foreign = endSeal(Buffer.alloc(32)).seal(
    { userId: ann, kinds: ['LIKE'], hasDigest: false, locale: 'en' },
    new Date(),
  );
  const changed = token.slice(0, 40) + (token[40] === 'A' ? 'B' : 'A') + token.slice(41);
  for (const wrong of [
    '',
    'x',
    '====',
    token.slice(0, -1),
    `${token}A`,
    `${token}=`,
    changed,
    foreign,
    'A'.repeat(9_000),
  ]) {
    const answer = await post(`/mail/unsubscribe?t=${encodeURIComponent(wrong)}`);
    expect([wrong.length, answer.status]).toEqual([wrong.length, 400]);
    expect(await answer.text()).toContain('This link is not complete.');
  }
  const german = await fetch(new URL('/mail/unsubscribe', app.url), { headers: { 'accept-language': 'de' } });
  expect(await german.text()).toContain('Dieser Link ist nicht vollständig.');
  expect((await post(path, 'x'.repeat(5_000))).status).toBe(413);
  expect((await fetch(new URL(path, app.url), { method: 'DELETE' })).status).toBe(405);
  expect(await mailed()).toEqual([...KINDS]);
});

const tell = (event: unknown, headers?: Record<string, string>): Promise<Response> => {
  const body = typeof event === 'string' ? event : JSON.stringify(event);
  return fetch(new URL('/mail/events', app.url), { method: 'POST', body, headers: headers ?? signed(body) });
};

const bounce = (more: object = {}) => ({
  type: 'mail.bounced',
  data: { email: `${ann}@PEOPLE.example`, isPermanent: true, error: '550 5.1.1', ...more },
});

test('a bounce or a complaint about an address that was mailed ends its mails, for a reason that is shown', async () => {
  await mention();
  await expect
    .poll(async () => (await state())?.['sentAt'], { timeout: PATIENCE_MS })
    .toEqual(expect.any(String));
  expect((await tell(bounce({ isPermanent: false }))).status).toBe(204);
  expect(await state()).toMatchObject({ hasAddress: true, offReason: null, error: null });
  expect((await tell(bounce())).status).toBe(204);
  expect((await tell(bounce({ email: 'nobody@people.example' }))).status).toBe(204);
  expect(await state()).toMatchObject({ offReason: 'BOUNCED', error: '550 5.1.1' });
  const own = await app.query('{ viewer { mails { hasAddress offReason } } }', {}, { sub: ann });
  expect(own.data).toEqual({ viewer: { mails: { hasAddress: true, offReason: 'BOUNCED' } } });
  await app.query('mutation { resumeMails { offReason } }', {}, { sub: ann });
  expect(await state()).toMatchObject({ offReason: null });
  const complaint = { type: 'mail.complained', data: { email: `${ann}@people.example` } };
  await tell(complaint);
  await tell(complaint);
  expect(await state()).toMatchObject({ offReason: 'COMPLAINED', error: null });
  // Another address was not complained about.
  await upsert(app, { members: [member({ email: `${ann}@other.example` })] });
  expect(await state()).toMatchObject({ offReason: null });
});

test('events without a signature of now are refused, and change nothing', async () => {
  const body = JSON.stringify(bounce());
  const good = signed(body);
  const old = new Date(Date.now() - 6 * 60_000);
  const wrong: readonly [string, Record<string, string>][] = [
    ['none', {}],
    ['of another secret', signed(body, { secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}` })],
    ['too old', signed(body, { sentAt: old })],
    ['of a later time', signed(body, { sentAt: new Date(Date.now() + 6 * 60_000) })],
    ['of another body', signed(`${body} `)],
    ['of another id', { ...good, 'webhook-id': 'other' }],
    ['without a time', { ...good, 'webhook-timestamp': '' }],
    ['of letters', { ...good, 'webhook-signature': 'v1,ÿÿÿÿ' }],
  ];
  for (const [what, headers] of wrong) {
    const answer = await tell(body, headers);
    expect([what, answer.status, (await answer.json()) as unknown]).toEqual([
      ...[what, 401],
      expect.objectContaining({ code: 'UNAUTHENTICATED' }),
    ]);
  }
  // Of the other secret, while secrets are rotated.
  expect((await tell(body, signed(body, { secret: OTHER }))).status).toBe(204);
});

test.each<[string, unknown]>([
  ['no JSON', 'nonsense'],
  ['a list', '[]'],
  ['an unknown type', { type: 'mail.opened', data: { email: 'ann@people.example' } }],
  ['no address', { type: 'mail.complained', data: {} }],
  ['no address that there is', bounce({ email: 'not an address' })],
  ['no word on whether it is permanent', bounce({ isPermanent: undefined })],
  ['a long reason', bounce({ error: 'x'.repeat(201) })],
  ['a reason of two lines', bounce({ error: 'one\ntwo' })],
])('an event with %s is BAD_USER_INPUT', async (_what, event) => {
  const answer = await tell(event);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ code: 'BAD_USER_INPUT' });
});

test('events that are too large, or not sent by POST, are refused', async () => {
  expect((await tell('x'.repeat(70_000))).status).toBe(413);
  expect((await fetch(new URL('/mail/events', app.url))).status).toBe(405);
});

test('without a mail server there is nothing of it', async () => {
  await using plain = await startTestApp({ worker: false });
  for (const path of ['/mail/unsubscribe', '/mail/events'])
    expect((await fetch(new URL(path, plain.url), { method: 'POST' })).status).toBe(404);
  const { data } = await plain.query('{ viewer { mails { hasAddress } } }', {}, { sub: 'ann' });
  expect(data).toEqual({ viewer: { mails: null } });
});
