import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  await upsert(app, {
    members: ['Ann', 'Bea', 'Cid', 'Dan', 'Eve', 'Fay'].map((name) => ({
      memberId: name.toLowerCase(),
      name,
    })),
  });
});
afterAll(async () => app[Symbol.asyncDispose]());

const ADD =
  'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { interaction { id } } }';
const add = async (sub: string, input: object): Promise<string> =>
  (await ask<{ addInteraction: { interaction: { id: string } } }>(app, ADD, { input }, { sub }))
    .addInteraction.interaction.id;

interface Shown {
  readonly id: string;
  readonly at: string;
  readonly kind: string;
  readonly summary: string;
}
interface List {
  readonly notifications: {
    readonly edges: readonly { readonly node: Shown }[];
    readonly unseen: object;
    readonly unread: object;
  };
}
const FIELDS = `
  id kind at isSeen isRead count { count isExact } actorCount { count isExact } actors { name }
  action { id engagement { likes } } interaction { text kind } summary de: summary(locale: "de") summaryParts { text member { memberId } }`;
const LIST = `query ($filter: NotificationFilter) {
  notifications(filter: $filter) {
    edges { node { ${FIELDS} } } unseen { count isExact } unread { count isExact } pageInfo { hasNextPage }
  }
}`;
const listOf = async (sub: string, filter: object = {}): Promise<List['notifications']> =>
  (await ask<List>(app, LIST, { filter }, { sub })).notifications;

test('members are notified of what concerns them, in sentences with names', async () => {
  const actionId = await publish(app, { actorId: 'ann', scope: 'PUBLIC' });
  for (const sub of ['bea', 'cid', 'dan', 'eve', 'fay'])
    await add(sub, { actionId, kind: 'COMMENT', text: `by ${sub}` });
  await add('bea', { actionId, kind: 'LIKE' });
  const { edges, unseen } = await listOf('ann');
  expect(edges.map(({ node }) => node)).toMatchObject([
    {
      kind: 'LIKE',
      summary: 'Bea liked your post',
      de: 'Bea gefällt dein Beitrag',
      interaction: { kind: 'LIKE' },
    },
    {
      ...{ kind: 'COMMENT', isSeen: false, isRead: false, action: { id: actionId } },
      count: { count: 5, isExact: true },
      actorCount: { count: 5, isExact: true },
      actors: [{ name: 'Fay' }, { name: 'Eve' }, { name: 'Dan' }],
      interaction: { text: 'by fay', kind: 'COMMENT' },
      summary: 'Fay, Eve, and 3 others commented on your post',
      de: 'Fay, Eve und 3 weitere haben deinen Beitrag kommentiert',
      summaryParts: [
        { text: 'Fay', member: { memberId: 'fay' } },
        { text: ', ', member: null },
        { text: 'Eve', member: { memberId: 'eve' } },
        { text: ', and 3 others commented on your post', member: null },
      ],
    },
  ]);
  expect(unseen).toEqual({ count: 2, isExact: true });
  const [, comments] = edges;
  const { node } = await ask<{ node: Shown }>(
    app,
    `query ($id: ID!) { node(id: $id) { ... on Notification { ${FIELDS} } } }`,
    { id: comments?.node.id },
    { sub: 'ann' },
  );
  expect(node).toEqual(comments?.node);
});

test('a reply, a mention, a follow, an assignment and a request concern their reader', async () => {
  const actionId = await publish(app, { actorId: 'bea', scope: 'PUBLIC', mentions: ['gil'] });
  const parentId = await add('gil', { actionId, kind: 'COMMENT', text: 'Me?' });
  await add('cid', { actionId, kind: 'COMMENT', text: 'You', parentId });
  await add('dan', { actionId, kind: 'COMMENT', text: 'Everybody', mentions: ['gil', 'gil'] });
  await ask(app, 'mutation { follow(refId: "gil") { refId } }', {}, { sub: 'ann' });
  await upsert(app, { refs: [{ id: 'north', type: 'site', label: 'North' }] });
  await upsert(app, { pairs: [{ followerId: 'gil', refId: 'north', isAssigned: true }] });
  const rating = await publish(app, {
    ...{ actorId: 'ann', scope: 'PUBLIC' },
    descriptor: {
      applicantRatingRequested: {
        ...{ applicantId: 'mary', applicantName: 'Mary', requestedFromId: 'gil', requestedFromName: 'Gil' },
      },
    },
  });
  const { edges } = await listOf('gil');
  expect(edges.map(({ node }) => node)).toMatchObject([
    { kind: 'OWN', summary: 'Ann asked Gil to rate Mary', action: { id: rating }, interaction: null },
    { kind: 'ASSIGNED', summary: 'You were assigned to North', actors: [], action: null },
    { kind: 'FOLLOW', summary: 'Ann follows you now', actors: [{ name: 'Ann' }] },
    { kind: 'MENTION', summary: 'Dan and Bea mentioned you', interaction: { text: 'Everybody' } },
    { kind: 'REPLY', summary: 'Cid replied to your comment', interaction: { text: 'You' } },
  ]);
  // What somebody does themselves does not concern them, and neither does a like of what is not theirs.
  await add('gil', { actionId, kind: 'LIKE' });
  expect((await listOf('gil')).edges.length).toBe(5);
  const comments = await listOf('gil', { kinds: ['REPLY', 'FOLLOW'] });
  expect(comments.edges.map(({ node }) => node.kind)).toEqual(['FOLLOW', 'REPLY']);
});

test('what was seen and read is marked, and a new event undoes both', async () => {
  const actionId = await publish(app, { actorId: 'hal', scope: 'PUBLIC' });
  await add('bea', { actionId, kind: 'COMMENT', text: 'First' });
  await add('bea', { actionId, kind: 'LIKE' });
  const [like, comment] = (await listOf('hal')).edges.map(({ node }) => node);
  const mark = (fields: string): Promise<unknown> =>
    ask(app, `mutation { ${fields} { memberId } }`, {}, { sub: 'hal' });
  await mark(`markNotificationsSeen(upTo: "${like?.at ?? ''}")`);
  await mark(`markNotificationsRead(ids: ["${comment?.id ?? ''}"])`);
  expect(await listOf('hal')).toMatchObject({
    unseen: { count: 0 },
    unread: { count: 1 },
    edges: [{ node: { isSeen: true, isRead: false } }, { node: { isSeen: true, isRead: true } }],
  });
  await add('cid', { actionId, kind: 'COMMENT', text: 'Second' });
  expect(await listOf('hal')).toMatchObject({
    unseen: { count: 1 },
    unread: { count: 2 },
    edges: [{ node: { kind: 'COMMENT', isSeen: false, isRead: false } }, { node: { isSeen: true } }],
  });
  await mark('markNotificationsRead(upTo: "2099-01-01T00:00:00Z")');
  expect(await listOf('hal', { unreadOnly: true })).toMatchObject({ unread: { count: 0 }, edges: [] });
  const foreign = await app.query(
    `mutation { markNotificationsRead(ids: ["${like?.id ?? ''}"]) { memberId } }`,
    {},
    { sub: 'bea' },
  );
  expect(foreign.errors[0]?.extensions.code).toBe('BAD_USER_INPUT');
});

test('a list that is shown again and again is as the first one who asks is shown it, whatever changes', async () => {
  await upsert(app, { members: ['pia', 'pat'].map((memberId) => ({ memberId, name: memberId })) });
  const own = await publish(app, { actorId: 'pam', scope: 'PUBLIC' });
  const like = await add('pia', { actionId: own, kind: 'LIKE' });
  await add('pat', { actionId: own, kind: 'LIKE' });
  await upsert(app, { refs: [{ id: 'west', type: 'site', label: 'West' }] });
  await upsert(app, { pairs: [{ followerId: 'pam', refId: 'west', isAssigned: true }] });
  const asked = (applicantName: string) => ({
    applicantRatingRequested: {
      ...{ applicantId: 'moe', applicantName, requestedFromId: 'pam', requestedFromName: 'Pam' },
    },
  });
  const rating = await publish(app, { actorId: 'pia', scope: 'PUBLIC', descriptor: asked('Moe') });
  // Of an action of others the answer does not say that it has changed.
  const theirs = await publish(app, { actorId: 'pia', scope: 'PUBLIC' });
  await add('pat', { actionId: theirs, kind: 'COMMENT', text: 'Pam?', mentions: ['pam'] });
  const as = { sub: 'pam' };
  const shown = async (query: string): Promise<List['notifications']> =>
    (await ask<List>(app, query, {}, as)).notifications;
  // Operations that come often are compiled, and what they show is kept.
  for (let n = 0; n < 30; n++) await shown(LIST);
  let asks = 0;
  const change = async (what: () => Promise<unknown>): Promise<void> => {
    const before = await shown(LIST);
    await what();
    const after = await shown(LIST);
    expect(after).toEqual(await shown(LIST.replace('query', `query Fresh${String(asks++)}`)));
    expect(after).not.toEqual(before);
  };
  const REMOVE = 'mutation ($id: ID!) { removeInteraction(input: { id: $id }) { action { id } } }';
  const EDIT =
    'mutation ($id: ID!, $input: UpdateActionInput!) { updateAction(id: $id, input: $input) { id } }';
  const seen = (await shown(LIST)).edges[0]?.node.at ?? '';
  await change(() => ask(app, `mutation { markNotificationsSeen(upTo: "${seen}") { memberId } }`, {}, as));
  await change(() =>
    ask(app, 'mutation { markNotificationsRead(upTo: "2099-01-01T00:00:00Z") { memberId } }', {}, as),
  );
  await change(() => upsert(app, { members: [{ memberId: 'pat', name: 'Patricia' }] }));
  await change(() => upsert(app, { refs: [{ id: 'west', type: 'site', label: 'Far West' }] }));
  await change(() => ask(app, EDIT, { id: rating, input: { descriptor: asked('Maureen') } }, { sub: 'pia' }));
  await change(() => ask(app, REMOVE, { id: like }, { sub: 'pia' }));
  await change(() => add('pia', { actionId: own, kind: 'LIKE' }));
  await change(() => add('pia', { actionId: theirs, kind: 'LIKE' }));
  const HIDE = 'mutation ($id: ID!) { hideAction(id: $id) { id } }';
  await change(() => ask(app, HIDE, { id: theirs }, { sub: 'mod', roles: ['admin'] }));
  await change(() => ask(app, 'mutation { blockMember(memberId: "pat") { memberId } }', {}, as));
});

test('members choose what they are notified of and when, and an explanation says what decides', async () => {
  const as = { sub: 'ian' };
  const actionId = await publish(app, { actorId: 'ian', scope: 'PUBLIC' });
  await add('bea', { actionId, kind: 'LIKE' });
  const explain = async (more = ''): Promise<unknown> => {
    const { explainNotification } = await ask<{ explainNotification: unknown }>(
      app,
      `query ($id: ID!) { explainNotification(actionId: $id, kind: LIKE${more}) {
        isListed withheldBy preferences { channel isOn isLocked } } }`,
      { id: actionId },
      more === '' ? as : { sub: 'root', roles: ['admin'] },
    );
    return explainNotification;
  };
  expect(await explain()).toMatchObject({ isListed: true, withheldBy: [] });
  await ask(
    app,
    `mutation { setNotificationPreferences(preferences: [
      { kind: LIKE, type: "Posted", channel: IN_APP, isOn: true }, { kind: LIKE, channel: IN_APP, isOn: false }
    ]) { memberId } }`,
    {},
    as,
  );
  expect((await listOf('ian')).edges).toEqual([]);
  await ask(app, 'mutation { addMute(target: { memberId: "bea" }) { memberId } }', {}, as);
  expect(await explain(', memberId: "ian"')).toEqual({
    isListed: false,
    withheldBy: ['KEPT_AWAY', 'SWITCHED_OFF'],
    preferences: [
      { channel: 'IN_APP', isOn: false, isLocked: false },
      { channel: 'EMAIL', isOn: false, isLocked: false },
      { channel: 'PUSH', isOn: true, isLocked: false },
    ],
  });
  const quiet =
    'mutation ($zone: String) { setQuietHours(from: "22:00", to: "07:00", timeZone: $zone, days: [5, 1, 5]) { quietHours { from to timeZone days } } }';
  expect(await ask(app, quiet, { zone: 'Europe/Berlin' }, as)).toEqual({
    setQuietHours: { quietHours: { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin', days: [1, 5] } },
  });
  expect((await app.query(quiet, { zone: 'Mars/Base' }, as)).errors[0]?.extensions.code).toBe(
    'BAD_USER_INPUT',
  );
  expect(await ask(app, 'mutation { setQuietHours { quietHours { from } } }', {}, as)).toEqual({
    setQuietHours: { quietHours: null },
  });
  const { viewer } = await ask<{ viewer: { notificationPreferences: readonly object[] } }>(
    app,
    '{ viewer { notificationPreferences { kind type channel isOn isLocked } } }',
    {},
    as,
  );
  expect(viewer.notificationPreferences.length).toBe(28);
  expect(viewer.notificationPreferences).toContainEqual({
    ...{ kind: 'LIKE', type: 'Posted', channel: 'IN_APP', isOn: true, isLocked: false },
  });
});

test('an event stream sends a new notification and the counts that change', async () => {
  const actionId = await publish(app, { actorId: 'jan', scope: 'PUBLIC' });
  await using stopped = new Stopped();
  const query = `subscription { notificationEvents { __typename
    ... on NotificationsReady { cursor }
    ... on NotificationAdded { cursor notification { kind summary isSeen } }
    ... on NotificationCountsChanged { unseen { count } unread { count } } } }`;
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    signal: stopped.signal,
    headers: {
      ...{ 'content-type': 'application/json', accept: 'text/event-stream' },
      authorization: `Bearer ${await app.token('jan')}`,
    },
    body: JSON.stringify({ query }),
  });
  let text = '';
  const received = (async () => {
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.includes('NotificationsReady') && !text.includes('Bea liked')) {
        await add('bea', { actionId, kind: 'LIKE' });
      }
      if (text.includes('NotificationCountsChanged')) return;
    }
  })();
  await received;
  expect(text).toContain('"notification":{"kind":"LIKE","summary":"Bea liked your post","isSeen":false}');
  expect(text).toContain('"unseen":{"count":1},"unread":{"count":1}');
});

class Stopped implements AsyncDisposable {
  readonly #controller = new AbortController();
  readonly signal = this.#controller.signal;

  [Symbol.asyncDispose](): Promise<void> {
    this.#controller.abort();
    return Promise.resolve();
  }
}
