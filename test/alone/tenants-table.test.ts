import { isObjectType } from 'graphql';
import { BSON } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TENANT_SEPARATOR, storedId } from '../../src/domain/stored-id.ts';
import type { Role } from '../../src/domain/viewer.ts';
import { runOperation, type Answer } from '../../src/graphql/run-operation.ts';
import { buildSchema, CURSOR_FIELDS } from '../../src/app/schema.ts';
import { Closer } from '../../src/lib/closer.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { createClient } from 'graphql-sse';
import { watchFeed, type FeedWatcher } from '../support/live-clients.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { PUSH_ENV } from '../support/push-service.ts';
import { READS, REFUSED, rowsOf, writesOf, type TableRow, type TenantIds } from '../support/tenant-table.ts';
import { inTenant, TENANT_CLAIM } from '../support/tenants.ts';
import { startWebhookTarget, type WebhookTarget } from '../support/webhook-receiver.ts';

// Two tenants with the same ids of members, refs and idempotency keys on one server: what one does and has is nowhere in
// what the other is answered, and nothing of the one is changed by the other.

const schema = await buildSchema({ tenantClaim: TENANT_CLAIM });
const READ_ROWS = rowsOf(schema, 'query', READS);
const WRITES = writesOf(schema);
const WRITE_ROWS = rowsOf(schema, 'mutation', WRITES);
/** What a client may ask for at once. */
const { node = [], nodes = [], ...OTHER_READS } = READS;
const HTTP_ROWS = [
  ...rowsOf(schema, 'query', OTHER_READS, 2),
  ...rowsOf(schema, 'query', { node, nodes }, 1),
];
const ROLES: readonly Role[] = ['user', 'service', 'admin'];
/** Well-formed ids of nothing. */
const NOTHING: TenantIds = {
  action: global('Action', 'f'.repeat(24)),
  own: global('Action', 'e'.repeat(24)),
  doomed: global('Action', 'd'.repeat(24)),
  comment: global('Interaction', 'c'.repeat(24)),
  spoken: global('Interaction', 'b'.repeat(24)),
  delivery: 'a'.repeat(32),
  report: global('Report', 'a'.repeat(24)),
  list: global('ReaderList', 'a'.repeat(24)),
  doomedList: global('ReaderList', 'b'.repeat(24)),
};
const AFTER_ALL_TESTS = new Date(Date.now() + 86_400_000);
const SOON = AFTER_ALL_TESTS.toISOString();

const closer = new Closer();
const webhooks = new Map<string, WebhookTarget>();
/** Of who runs the installation. */
let everybodys: WebhookTarget;
const SECRET_PATH = 'hooks/of-the-installation';
let app: TestApp;
let watcher: FeedWatcher;
let crimson: TenantIds;

beforeAll(async () => {
  for (const tenant of ['crimson', 'azure']) webhooks.set(tenant, closer.own(await startWebhookTarget()));
  everybodys = closer.own(await startWebhookTarget());
  everybodys.answer = 500;
  const ofTenants = [...webhooks].map(([tenant, { url, secret }]) => ({
    ...{ url, secrets: [secret], tenant, allowPrivateAddress: true },
  }));
  const ofEverybody = {
    ...{
      url: new URL(SECRET_PATH, everybodys.url).href,
      secrets: [everybodys.secret],
      allowPrivateAddress: true,
    },
  };
  const receivers = [...ofTenants, ofEverybody];
  app = closer.own(
    await startTestApp({
      env: {
        ...PUSH_ENV,
        ...{ SYNDICATION: 'on', PUBLIC_URL: 'https://feed.example' },
        TENANT_CLAIM,
        WEBHOOKS: JSON.stringify(receivers),
        NOTIFY_AFTER: '1h',
        POLL_INTERVAL: '100ms',
      },
    }),
  );
});
afterAll(() => closer.close());

function global(type: string, key: string): string {
  return Buffer.from(`${type}:${key}`).toString('base64');
}

/** Everything a caller of a tenant may be asked with: more than any client is given. */
function run(tenant: string, document: string, variables: object, sub = 'ann'): Promise<Answer<Tree>> {
  return runOperation<Tree>(
    schema,
    app.core,
    {
      ...{ document, variables: { soon: SOON, ...variables }, locale: 'en' as const },
      identity: { userId: storedId(tenant, sub), roles: new Set(ROLES), expiresAt: null },
    },
    { isUnavailable: () => false, report: (error) => failures.push(error) },
  );
}

const failures: unknown[] = [];
type Tree = Readonly<Record<string, unknown>>;

async function succeed(tenant: string, document: string, variables: object = {}): Promise<Tree> {
  const { data, errors } = await run(tenant, document, variables);
  expect(errors).toEqual([]);
  return data ?? {};
}

/** The same people, things and actions in every tenant, with texts of its own. */
async function fill(tenant: string): Promise<TenantIds> {
  await succeed(
    tenant,
    `mutation ($members: [MemberInput!]!, $refs: [RefInput!]!, $pairs: [FollowInput!]!) {
      upsertMembers(members: $members) upsertRefs(refs: $refs) followMany(pairs: $pairs) }`,
    {
      members: ['ann', 'bob', 'cid', 'gone'].map((memberId) => ({
        ...{ memberId, name: `${tenant} ${memberId}`, teamId: 't1', departmentId: 'd1' },
        ...{ supervisorId: 'bob', data: { of: tenant, who: memberId } },
      })),
      refs: [{ id: 'site', type: 'site', label: `${tenant} site`, data: { of: tenant } }],
      pairs: [
        { followerId: 'ann', refId: 'site' },
        { followerId: 'cid', refId: 'bob', isAssigned: true },
      ],
    },
  );
  const action = (key: string, more: object = {}) => ({
    ...{ idempotencyKey: key, actorId: 'bob', mentions: ['ann'], scope: 'PUBLIC' },
    refs: [{ id: 'site', type: 'site', label: `${tenant} site` }],
    descriptor: { posted: { postId: 'p1', postTitle: `${tenant} title`, text: `${tenant} text` } },
    ...more,
  });
  const rating = {
    ...{ raterId: 'bob', raterName: tenant, applicantId: 'app', applicantName: tenant },
    ...{ positionId: 'pos', positionName: tenant, ratingScore: 1, tags: [tenant] },
  };
  const inputs = [
    action('main'),
    action('own', { actorId: 'ann', scope: 'TEAM', mentions: [] }),
    action('doomed', { scope: 'FOLLOWERS' }),
    action('rated', { scope: 'RESTRICTED', recipients: ['ann'], descriptor: { applicationRating: rating } }),
    action('any', {
      descriptor: { custom: { verb: 'v', objectType: 'o', objectId: 'x', data: { of: tenant } } },
    }),
  ];
  const { publishActions } = (await succeed(
    tenant,
    'mutation ($inputs: [PublishActionInput!]!) { publishActions(inputs: $inputs) { action { id } error { message } } }',
    { inputs },
  )) as { publishActions: readonly { readonly action: { readonly id: string } }[] };
  const [main = '', own = '', doomed = ''] = publishActions.map(({ action: { id } }) => id);
  const comment = async (text: string, more: object = {}): Promise<string> => {
    const input = { actionId: main, kind: 'COMMENT', text: `${tenant} ${text}`, ...more };
    const { addInteraction } = (await succeed(
      tenant,
      'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { interaction { id } } }',
      { input },
    )) as { addInteraction: { readonly interaction: { readonly id: string } } };
    return addInteraction.interaction.id;
  };
  const { report } = (await succeed(
    tenant,
    `mutation ($id: ID!) { report(actionId: $id, reason: "${tenant} reason") { id } }`,
    { id: main },
  )) as { report: { readonly id: string } };
  const { list, doomedList } = (await succeed(
    tenant,
    `mutation { list: createList(name: "${tenant} list") { id } doomedList: createList(name: "Doomed") { id } }`,
  )) as Record<'list' | 'doomedList', { readonly id: string }>;
  await succeed(tenant, 'mutation ($id: ID!) { addToList(id: $id, refIds: ["site"]) { id } }', {
    id: list.id,
  });
  const ids = {
    ...{ list: list.id, doomedList: doomedList.id },
    action: main,
    report: report.id,
    own,
    doomed,
    comment: await comment('one'),
    spoken: await comment('two'),
  };
  await succeed(
    tenant,
    `mutation ($id: ID!, $own: ID!) {
      hideAction(id: $own, reason: "${tenant} reason") { id } pinAction(refId: "site", actionId: $id) { refId }
      bookmark(actionId: $id) { id } addMute(target: { phrase: "${tenant} words" }) { memberId }
      eraseMember(memberId: "gone") }`,
    { id: main, own },
  );
  await settled();
  const { webhookDeliveries } = app.app.database.collections;
  const waiting = () => webhookDeliveries.findOne({ tenant });
  await expect.poll(waiting, { timeout: PATIENCE_MS }).not.toBeNull();
  return { ...ids, delivery: (await waiting())?._id ?? NOTHING.delivery };
}

/** Nothing is under way any more, and every event has its place in the log. */
async function settled(): Promise<void> {
  const { actions, interactions, follows, reports, erasures, eventOutbox } = app.app.database.collections;
  await app.idle();
  const waiting = { unsentAt: { $exists: true } };
  await expect
    .poll(
      async () =>
        (await actions.countDocuments(waiting)) +
        (await interactions.countDocuments(waiting)) +
        (await follows.countDocuments(waiting)) +
        (await reports.countDocuments(waiting)) +
        (await erasures.countDocuments(waiting)) +
        (await eventOutbox.countDocuments()),
      { timeout: PATIENCE_MS },
    )
    .toBe(0);
  await expect.poll(() => erasures.countDocuments({ state: 'RUNNING' }), { timeout: PATIENCE_MS }).toBe(0);
  // The second pass of an erasure comes by the clock, and a slow machine would see it here.
  await erasures.updateMany({ state: 'CONFIRMING' }, { $set: { 'pass.due': AFTER_ALL_TESTS } });
}

/** What differs from one time to the next for the same data. */
const OF_THE_MOMENT =
  /^(?:cursor|startCursor|endCursor|liveCursor|ticket|expiresAt|exportedAt|oldestSeconds|nextAttemptAt|attempts|error|score|scoreVars|lastActiveAt)$/;

function lasting(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, inner: unknown) => (OF_THE_MOMENT.test(key) ? undefined : inner)),
  );
}

/** Of cid, who gets to see less, no more is asked than over HTTP. */
const READERS = [
  ['ann', READ_ROWS],
  ['cid', HTTP_ROWS],
] as const;

async function answers(tenant: string, ids: TenantIds): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {};
  for (const [sub, rows] of READERS)
    for (const { call, document } of rows)
      all[`${sub}: ${call}`] = lasting(await run(tenant, document, ids, sub));
  return all;
}

/** Every document in which a tenant, or an action of it, is named. */
async function dump(tenant: string): Promise<string[]> {
  const { db, collections } = app.app.database;
  const actions = await collections.actions.find({ tenant }).project({ _id: 1 }).toArray();
  const marks = [`${tenant}\\u001f`, `"${tenant}"`, ...actions.map(({ _id }) => String(_id))];
  const found: string[] = [];
  for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray()) {
    // Tried again by the clock, and by nobody else.
    if (name === 'webhookDeliveries') continue;
    for await (const document of db.collection(name).find()) {
      const text = `${name} ${BSON.EJSON.stringify(document)}`;
      if (marks.some((mark) => text.includes(mark))) found.push(text);
    }
  }
  return found.sort();
}

test('covers every field of the schema', () => {
  const names = (type: ReturnType<typeof schema.getQueryType>) => Object.keys(type?.getFields() ?? {}).sort();
  expect(Object.keys(READS).sort()).toEqual(names(schema.getQueryType()));
  expect(Object.keys(WRITES).sort()).toEqual(names(schema.getMutationType()));
  // Watched below, over both transports.
  expect(names(schema.getSubscriptionType())).toEqual([
    ...['actionEvents', 'feedEvents', 'notificationEvents', 'sliceEvents'],
  ]);
});

let before: Record<string, unknown> = {};
let azure: TenantIds;

test('gives a tenant the same answers whatever another one with the same ids has and does', async () => {
  const target = webhooks.get('azure');
  const other = webhooks.get('crimson');
  if (target === undefined || other === undefined) throw new Error('There are no receivers');
  target.answer = 500;
  other.answer = 500;
  azure = await fill('azure');
  watcher = closer.own(await watchFeed('WebSocket', inTenant(app, 'azure'), 'ann'));
  await using stream = await watchFeed('SSE', inTenant(app, 'azure'), 'ann');
  await using notified = await watchNotifications('azure', 'ann');
  // The first time makes up what is made up on reading, such as when somebody was last there.
  await answers('azure', azure);
  before = await answers('azure', azure);

  crimson = await fill('crimson');
  for (const row of WRITE_ROWS) {
    const { errors } = await run('crimson', row.document, crimson);
    if (!REFUSED.has(row.field)) expect({ call: row.call, errors }).toEqual({ call: row.call, errors: [] });
  }
  await settled();
  await expectSame(before);
  // Nothing has come of all that crimson did, also to cid; what azure does comes first.
  const published = await publishTo('azure');
  for (const watching of [watcher, stream]) expect(await watching.addedUntil(published)).toEqual([]);
  expect(await notified.added()).toBe(published);
});

interface Notified {
  readonly notificationEvents: {
    readonly __typename: string;
    readonly notification?: { readonly action: { readonly id: string } | null };
  };
}

/** An event stream of notifications that has begun. */
async function watchNotifications(tenant: string, sub: string) {
  const client = createClient({
    url: `${app.url}/graphql`,
    headers: { authorization: `Bearer ${await inTenant(app, tenant).token(sub)}` },
    retryAttempts: 0,
  });
  const events = client.iterate<Notified>({
    query: `subscription { notificationEvents { __typename
      ... on NotificationAdded { notification { action { id } } } } }`,
  });
  const next = async () => {
    const { value } = (await events.next()) as { readonly value?: { readonly data?: Notified | null } };
    if (value?.data == null) throw new Error(`No event: ${JSON.stringify(value)}`);
    return value.data.notificationEvents;
  };
  expect((await next()).__typename).toBe('NotificationsReady');
  return {
    /** The action of the next notification that is new. */
    async added(): Promise<string | undefined> {
      for (;;) {
        const { __typename: name, notification } = await next();
        if (name === 'NotificationAdded') return notification?.action?.id;
      }
    },
    [Symbol.asyncDispose](): Promise<void> {
      client.dispose();
      return Promise.resolve();
    },
  };
}

async function publishTo(tenant: string): Promise<string> {
  const { publishAction } = (await succeed(
    tenant,
    `mutation { publishAction(input: { actorId: "bob", mentions: ["ann"], descriptor: { posted: { postId: "p2" } } }) {
      action { id } } }`,
  )) as { publishAction: { readonly action: { readonly id: string } } };
  return publishAction.action.id;
}

async function expectSame(known: Record<string, unknown>): Promise<void> {
  const now = await answers('azure', azure);
  for (const [call, answer] of Object.entries(known))
    expect({ call, answer: now[call] }).toEqual({ call, answer });
}

test('contains nothing of another tenant in any answer, and never the separator', () => {
  const text = JSON.stringify(before);
  expect(text).toContain('azure title');
  expect(text).toContain(new URL(everybodys.url).origin);
  expect(text).not.toContain(SECRET_PATH);
  expect(text).toContain('azure reason');
  for (const mark of ['crimson', TENANT_SEPARATOR, '\\u001f']) expect(text).not.toContain(mark);
  for (const encoded of text.match(/[\w+/=-]{12,}/g) ?? []) {
    const decoded = Buffer.from(encoded, 'base64').toString('latin1');
    expect(decoded).not.toContain(`azure${TENANT_SEPARATOR}`);
  }
});

test.each([...READ_ROWS, ...WRITE_ROWS].filter(({ ids }) => ids.length > 0))(
  'treats ids of another tenant as unknown: $call',
  async (row: TableRow) => {
    const [theirs, nothing] = [
      await run('azure', row.document, crimson),
      await run('azure', row.document, NOTHING),
    ];
    expect(masked(theirs, crimson)).toEqual(masked(nothing, NOTHING));
  },
);

/** Answers repeat the ids they were given. */
function masked(answer: unknown, ids: TenantIds): unknown {
  let text = JSON.stringify(lasting(answer));
  for (const [name, id] of Object.entries(ids) as [string, string][]) {
    text = text.replaceAll(id, name);
    const item = global('NewsfeedItem', `ann:${Buffer.from(id, 'base64').toString().split(':')[1] ?? ''}`);
    text = text.replaceAll(item, `item of ${name}`);
  }
  return JSON.parse(text);
}

test('changes nothing of another tenant by any mutation', async () => {
  await settled();
  const known = await dump('crimson');
  expect(known.length).toBeGreaterThan(20);
  for (const row of WRITE_ROWS) {
    await run('azure', row.document, crimson);
    const { errors } = await run('azure', row.document, azure);
    if (!REFUSED.has(row.field)) expect({ call: row.call, errors }).toEqual({ call: row.call, errors: [] });
  }
  await settled();
  expect(await dump('crimson')).toEqual(known);
});

/** Lists, and where their page lies in an answer. */
const LISTS = [
  ['actions', 'actions(first: 1, after: $after) { pageInfo { endCursor } }'],
  ['erasures', 'erasures(first: 1, after: $after) { pageInfo { endCursor } }'],
  ['hostEvents', 'hostEvents(first: 1, after: $after) { pageInfo { endCursor } }'],
  ['latestInteractions', 'latestInteractions(first: 1, after: $after) { pageInfo { endCursor } }'],
  ['moderationLog', 'moderationLog(first: 1, after: $after) { pageInfo { endCursor } }'],
  ['webhookDeliveries', 'webhookDeliveries(first: 1, after: $after) { pageInfo { endCursor } }'],
  ['slice', 'slice(refId: "site", first: 1, after: $after) { pageInfo { endCursor } }'],
  ['feed', 'feed(first: 1, after: $after) { pageInfo { endCursor } }'],
  ['a ranked feed', 'feed(order: TOP, first: 1, after: $after) { pageInfo { endCursor } }'],
  ['feedGroups', 'feedGroups(first: 1, after: $after) { pageInfo { endCursor } }'],
  ['followers', 'ref(refId: "site") { followers(first: 1, after: $after) { pageInfo { endCursor } } }'],
  ['following', 'viewer { following(first: 1, after: $after) { pageInfo { endCursor } } }'],
] as const;

function endCursorIn(answer: unknown): string {
  const { endCursor } = /"endCursor":"(?<endCursor>[\w-]+)"/.exec(JSON.stringify(answer))?.groups ?? {};
  return endCursor ?? '';
}

const UPWARDS = LISTS.map(
  ([list, selection]) =>
    [`${list} upwards`, selection.replace('first: 1, after:', 'last: 1, before:')] as const,
);

test.each([...LISTS, ...UPWARDS])(
  'rejects cursors of another tenant like any invalid text: %s',
  async (_list, selection) => {
    const document = `query ($after: String) { ${selection} }`;
    const after = endCursorIn(await succeed('crimson', document));
    expect(after).not.toBe('');
    const refusal = async (text: string): Promise<unknown> => {
      const { errors } = await run('azure', document, { after: text });
      return errors.map(({ message, extensions }) => [message, extensions['code']]);
    };
    expect(await refusal(after)).toEqual([['The cursor does not belong to this list', 'BAD_CURSOR']]);
    expect(await refusal('anything')).toEqual(await refusal(after));
    expect(await refusal('')).toEqual(await refusal(after));
    // What it seals is none for anybody outside: neither there nor here.
    const inner = app.services.cursors.given(storedId('crimson', 'ann'), after);
    expect(inner).not.toBe('');
    expect(await refusal(inner)).toEqual(await refusal(after));
    expect((await run('crimson', document, { after: inner })).errors).toHaveLength(1);
    expect((await run('crimson', document, { after })).errors).toEqual([]);
  },
);

test.each(['WebSocket', 'SSE'] as const)(
  'resumes after no event of another tenant: %s',
  async (transport) => {
    const watch = (tenant: string, after: string) =>
      watchFeed(transport, inTenant(app, tenant), 'ann', { after });
    const { feed } = (await succeed('crimson', '{ feed(first: 1) { liveCursor } }')) as {
      readonly feed: { readonly liveCursor: string };
    };
    const after = feed.liveCursor;
    const inner = app.services.cursors.given(storedId('crimson', 'ann'), after);
    for (const [tenant, text] of [
      ['azure', after],
      ['azure', 'anything'],
      ['crimson', inner],
    ] as const) {
      await using refused = await watch(tenant, text);
      expect(await refused.next()).toMatchObject({ __typename: 'FeedResync', reason: 'invalid-cursor' });
    }
    const published = await publishTo('crimson');
    await using resumed = await watch('crimson', after);
    expect(await resumed.addedUntil(published)).toEqual([]);
  },
);

test('an event stream numbers its events by sealed cursors, and resumes from them', async () => {
  const token = await inTenant(app, 'crimson').token('ann');
  const begin = async (lastEventId: string | null) => {
    const ending = new AbortController();
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', accept: 'text/event-stream' },
        authorization: `Bearer ${token}`,
        ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
      },
      body: JSON.stringify({ query: 'subscription { feedEvents { __typename cursor } }' }),
      signal: ending.signal,
    });
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (/^id: .+\n/m.test(text)) break;
    }
    ending.abort();
    return {
      id: /^id: (.+)$/m.exec(text)?.[1] ?? '',
      cursor: /"cursor":"([^"]+)"/.exec(text)?.[1],
    };
  };
  const first = await begin(null);
  expect(first).toEqual({ id: first.cursor, cursor: expect.stringMatching(/^[\w-]{60,}$/) as string });
  expect(app.services.cursors.given(storedId('crimson', 'ann'), first.id)).not.toBe('');
  expect(await begin(first.id)).toEqual(first);
});

test('has every cursor of the schema sealed', () => {
  const cursors = Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type) ? Object.keys(type.getFields()).filter((name) => /cursor/i.test(name)) : [],
  );
  expect(new Set(cursors)).toEqual(CURSOR_FIELDS);
  const taken = Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type)
      ? Object.values(type.getFields()).flatMap(({ args }) =>
          args.filter(({ description }) => /cursor/i.test(description ?? '')).map(({ name }) => name),
        )
      : [],
  );
  expect(new Set(taken)).toEqual(new Set(['after', 'before']));
});

test.each(HTTP_ROWS)(
  'gives the same answers over HTTP as inside, while another tenant is served in between: $call',
  async ({ document, ids: names }: TableRow) => {
    const inside = new Map<string, unknown>();
    // The first time everything is asked for, later what is kept of that.
    for (let time = 0; time < 2; time++)
      for (const [tenant, ids, other] of [
        ['azure', azure, 'crimson'],
        ['crimson', crimson, 'azure'],
      ] as const) {
        const variables = Object.fromEntries(names.map((name) => [name, ids[name as keyof TenantIds]]));
        const caller = { sub: 'ann', roles: ROLES };
        const { data, errors, text } = await inTenant(app, tenant).query(document, variables, caller);
        expect({ tenant, time, errors }).toEqual({ tenant, time, errors: [] });
        if (!inside.has(tenant)) inside.set(tenant, lasting((await run(tenant, document, ids)).data));
        expect({ tenant, time, data: lasting(data) }).toEqual({ tenant, time, data: inside.get(tenant) });
        for (const mark of [other, TENANT_SEPARATOR, '\\u001f']) expect(text).not.toContain(mark);
      }
  },
);

test("sends each receiver only its tenant's events, with the host's ids", () => {
  for (const [tenant, { received }] of webhooks) {
    expect(received.length).toBeGreaterThan(0);
    expect(new Set(received.map(({ payload }) => payload.tenant))).toEqual(new Set([tenant]));
    for (const { body } of received) expect(body).not.toContain('u001f');
  }
});

test('has no tenant in metric labels, and causes no internal error', async () => {
  const page = await (await fetch(`${app.url}/metrics`)).text();
  expect(page).toContain('fanfare_');
  expect(page).not.toMatch(/"(?:crimson|azure)"/);
  expect(failures).toEqual([]);
});
