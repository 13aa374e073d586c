import { PUSH_ENV } from '../support/push-service.ts';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { BSON } from 'mongodb';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { FEATURES } from '../../src/app/features.ts';
import { storedId, TENANT_SEPARATOR } from '../../src/domain/stored-id.ts';
import type { Role } from '../../src/domain/viewer.ts';
import { runOperation, type Answer } from '../../src/graphql/run-operation.ts';
import { buildSchema } from '../../src/app/schema.ts';
import { COLLECTIONS } from '../../src/app/collections.ts';
import { FEED_COLLECTIONS } from '../../src/app/feed-models.ts';
import { tenantIn } from '../../src/storage/documents/declaration.ts';
import { adoptDatabase, AdoptionRefused } from '../../parts/tenants/src/adopt-database.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { borrowDatabase, openShared } from '../support/spare-databases.ts';
import { READS, rowsOf } from '../support/tenant-table.ts';
import { TENANT_CLAIM } from '../support/tenants.ts';
import { commandContext } from '../support/command-context.ts';
import { parseActionId } from '../../src/graphql/global-id.ts';
import { fillReaderActions } from '../support/reader-actions.ts';

// What is done with whole tenants, on the command line.

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fanfare-tenant-commands-'));
});
afterAll(() => rm(folder, { recursive: true }));

const ROLES: readonly Role[] = ['user', 'service', 'admin'];
const EVENTS = {
  ...{ ...PUSH_ENV, NOTIFY_AFTER: '1h', POLL_INTERVAL: '100ms', EVENT_RETENTION: '7d' },
  ...{ SYNDICATION: 'on', PUBLIC_URL: 'https://feed.example' },
};

type Tree = Readonly<Record<string, unknown>>;

/** Somebody who asks anything, in a tenant or, without one, where there are none. */
class Site {
  readonly #app: TestApp;
  readonly #tenant: string | null;
  readonly #schema: ReturnType<typeof buildSchema>;

  constructor(app: TestApp, tenant: string | null) {
    this.#app = app;
    this.#tenant = tenant;
    this.#schema = buildSchema(tenant === null ? {} : { tenantClaim: TENANT_CLAIM });
  }

  async ask(document: string, variables: Tree = {}, sub = 'ann'): Promise<Answer<Tree>> {
    const userId = this.#tenant === null ? sub : storedId(this.#tenant, sub);
    return runOperation<Tree>(
      await this.#schema,
      this.#app.core,
      {
        ...{ document, variables, locale: 'en' as const },
        identity: { userId, roles: new Set(ROLES), expiresAt: null },
      },
      {
        isUnavailable: () => false,
        report: (error) => {
          throw error;
        },
      },
    );
  }

  async do(document: string, variables: Tree = {}, sub = 'ann'): Promise<Tree> {
    const { data, errors } = await this.ask(document, variables, sub);
    expect(errors).toEqual([]);
    return data ?? {};
  }

  /** Of each kind, what the reader has said about an action; and that they want no mails. */
  async mark(globalId: string, reader = 'ann'): Promise<void> {
    const userId = this.#tenant === null ? reader : storedId(this.#tenant, reader);
    await fillReaderActions(this.#app.app.database, userId, parseActionId(globalId, ['id']));
    const { mailboxes } = this.#app.app.database.collections;
    await mailboxes.updateOne({ _id: userId }, { $set: { digestsOffAt: new Date() } }, { upsert: true });
  }

  /** Everything that can be read, as one reader; as another one, not as deep. */
  async read(ids: Tree): Promise<Record<string, unknown>> {
    const all: Record<string, unknown> = {};
    for (const [sub, depth] of [
      ['ann', 3],
      ['cid', 2],
    ] as const)
      for (const { field, call, document } of rowsOf(await this.#schema, 'query', READS, depth)) {
        // Figures of the installation, which a tenant does not get.
        if (field === 'samples') continue;
        all[`${sub}: ${call}`] = lasting(await this.ask(document, ids, sub), field === 'memberExport');
      }
    return all;
  }
}

/** What differs from one time to the next for the same data, or by when feeds were stored; and the tenant, which is new. */
const OF_THE_MOMENT =
  /^(?:tenant|cursor|startCursor|endCursor|liveCursor|ticket|expiresAt|exportedAt|finishedAt|step|oldestSeconds|nextAttemptAt|attempts|score|scoreVars|lastActiveAt|workers|state)$/;

/** @param isUnordered its lists come in no particular order */
function lasting(value: unknown, isUnordered: boolean): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, inner: unknown) => {
      if (OF_THE_MOMENT.test(key)) return undefined;
      // Its event names the member until the erasure has ended, which a slow run comes to see.
      if (isErasure(inner)) return { ...inner, memberId: 'who was erased' };
      // Made of hashes of ids as they are stored.
      if (isUnordered && Array.isArray(inner))
        return (inner as unknown[]).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
      if (typeof inner !== 'string') return inner;
      return /^[0-9a-f]{64}$/.test(inner) ? 'an erasure' : inner.startsWith(GROUP) ? 'a group' : inner;
    }),
  );
}

const isErasure = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  'memberId' in value &&
  /^[0-9a-f]{64}$/.test(String((value as Tree)['key']));

const GROUP = Buffer.from('FeedGroup:').toString('base64').slice(0, -4);

/** People, things, actions of several kinds and everything that is done with them. */
async function fill(site: Site, of: string): Promise<{ readonly action: string; readonly comment: string }> {
  await site.do(
    `mutation ($members: [MemberInput!]!, $refs: [RefInput!]!, $pairs: [FollowInput!]!) {
      upsertMembers(members: $members) upsertRefs(refs: $refs) followMany(pairs: $pairs) }`,
    {
      members: ['ann', 'bob', 'cid', 'gone'].map((memberId) => ({
        ...{ memberId, name: `${of} ${memberId}`, teamId: 't1', departmentId: 'd1' },
        ...{ supervisorId: 'bob', data: { of, note: memberId.toUpperCase() } },
      })),
      refs: [{ id: 'site', type: 'site', label: `${of} site`, data: { of } }],
      pairs: [
        { followerId: 'ann', refId: 'site' },
        { followerId: 'cid', refId: 'bob', isAssigned: true },
      ],
    },
  );
  const posted = { posted: { postId: 'p1', postTitle: `${of} title`, text: `${of} text` } };
  const rating = {
    ...{ raterId: 'bob', raterName: of, applicantId: 'app', applicantName: of },
    ...{ positionId: 'pos', positionName: of, ratingScore: 1 },
  };
  const refs = [{ id: 'site', type: 'site', label: `${of} site` }];
  const inputs = [
    { idempotencyKey: 'main', actorId: 'bob', mentions: ['ann'], scope: 'PUBLIC', refs, descriptor: posted },
    { idempotencyKey: 'team', actorId: 'ann', scope: 'TEAM', descriptor: posted },
    {
      ...{ idempotencyKey: 'rated', actorId: 'bob', scope: 'RESTRICTED', recipients: ['ann'] },
      descriptor: { applicationRating: rating },
    },
    { idempotencyKey: 'doomed', actorId: 'bob', scope: 'PUBLIC', refs, descriptor: posted },
    { actorId: 'cid', mentions: ['gone'], descriptor: posted },
  ];
  const { publishActions } = (await site.do(
    'mutation ($inputs: [PublishActionInput!]!) { publishActions(inputs: $inputs) { action { id } error { message } } }',
    { inputs },
  )) as { publishActions: readonly { readonly action: { readonly id: string } }[] };
  const [main = '', team = '', , doomed = ''] = publishActions.map(({ action: { id } }) => id);
  const { addInteraction } = (await site.do(
    'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { interaction { id } } }',
    {
      input: {
        ...{ actionId: main, kind: 'COMMENT', text: `${of} words`, idempotencyKey: 'c' },
        mentions: ['cid'],
      },
    },
  )) as { addInteraction: { readonly interaction: { readonly id: string } } };
  await site.do(
    `mutation ($id: ID!, $team: ID!, $doomed: ID!, $soon: DateTime!) {
      like: addInteraction(input: { actionId: $id, kind: LIKE, actorId: "cid" }) { isReplay }
      pass: addInteraction(input: { actionId: $id, kind: RESHARE }) { isReplay }
      hideAction(id: $team, reason: "${of} reason") { id }
      pinAction(refId: "site", actionId: $id) { refId }
      bookmark(actionId: $id) { id }
      snoozeFeedItem(actionId: $id, until: $soon) { actionId }
      addMute(target: { phrase: "${of} phrase" }) { memberId }
      muteNobody: addMute(target: { memberId: "nobody" }) { memberId }
      blockMember(memberId: "nobody") { memberId }
      report(actionId: $id, reason: "${of} report") { id }
      registerPush(endpoint: "https://push.example/${of}", p256dh: "BFV51v61sWuGTubFT2yjctTjm_t3ybed-t9Ci6RyGiYnoBYvUp-bvZfNr-E9od-dyv8-yEubdz8wJ5Xox3qdEpo", auth: "AAAAAAAAAAAAAAAAAAAAAA")
      createFeedKey(name: "${of} tablet") { key { id } }
      createList(name: "${of} list") { id }
      markNotificationsSeen(upTo: "2020-01-01T00:00:00.5Z") { memberId }
      updateAction(id: $id, input: { mentions: ["ann", "cid"] }) { id }
      deleteAction(id: $doomed) { id }
      eraseMember(memberId: "gone") }`,
    { id: main, team, doomed, soon: new Date(Date.now() + 86_400_000).toISOString() },
  );
  await site.mark(main);
  return { action: main, comment: addInteraction.interaction.id };
}

async function settled(app: TestApp): Promise<void> {
  const { actions, interactions, follows, erasures, eventOutbox } = app.app.database.collections;
  await app.idle();
  const waiting = { unsentAt: { $exists: true } };
  await expect
    .poll(
      async () =>
        (await actions.countDocuments(waiting)) +
        (await interactions.countDocuments(waiting)) +
        (await follows.countDocuments(waiting)) +
        (await erasures.countDocuments(waiting)) +
        (await eventOutbox.countDocuments()),
    )
    .toBe(0);
}

interface Said {
  readonly out: string;
  readonly notes: string;
}

/** Runs the command line in this process. */
async function fanfare(env: Readonly<Record<string, string>>, ...args: string[]): Promise<Said> {
  const [out, notes]: [string[], string[]] = [[], []];
  const terminal = {
    out: (line: string) => void out.push(line),
    note: (line: string) => void notes.push(line),
    isInteractive: false,
    stderr: process.stderr,
    mute: () => undefined,
  };
  const program = await createProgram(commandContext({ env, terminal }), FEATURES, () => undefined);
  await program.parseAsync(args, { from: 'user' });
  return { out: out.join('\n'), notes: notes.join('\n') };
}

/** Every document by collection, as text. */
async function contents(app: Pick<TestApp, 'database'>): Promise<Map<string, string[]>> {
  const { db } = await openShared(app.database);
  const all = new Map<string, string[]>();
  for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray()) {
    const documents = await db.collection(name).find().toArray();
    all.set(name, documents.map((document) => BSON.EJSON.stringify(document)).sort());
  }
  return all;
}

/** Of one tenant: what names it, and what hangs on its actions. */
function ofTenant(all: Map<string, string[]>, tenant: string): Map<string, string[]> {
  const own = (all.get('actions') ?? []).filter((text) => text.includes(`"tenant":"${tenant}"`));
  const ids = own.flatMap((text) => /"_id":\{"\$oid":"(\w+)"\}/.exec(text)?.[1] ?? []);
  const marks = [`${tenant}\\u001f`, `"tenant":"${tenant}"`, ...ids];
  return new Map(
    [...all].map(([name, texts]) => [
      name,
      texts.filter((text) => marks.some((mark) => text.includes(mark))),
    ]),
  );
}

const counts = (all: Map<string, string[]>) =>
  Object.fromEntries([...all].map(([name, texts]) => [name, texts.length]));

test('one of two tenants with the same ids is exported and erased, the other is unchanged', async () => {
  await using app = await startTestApp({ env: { ...EVENTS, TENANT_CLAIM } });
  const [acme, other] = [new Site(app, 'acme'), new Site(app, 'other')];
  await fill(acme, 'red');
  await fill(other, 'blue');
  await settled(app);
  const env = { ...app.env, LOG_LEVEL: 'silent' };
  const exports = await Promise.all(
    ['ann', 'bob', 'cid'].map((memberId) =>
      acme.do('query ($memberId: String!) { memberExport(memberId: $memberId) }', { memberId }),
    ),
  );
  // No further writes: the commands do without a worker, and so do we.
  await app.app.close();

  expect((await fanfare(env, 'tenant', 'list')).out.split('\n')).toEqual([
    'acme\t3 members\t4 actions',
    'other\t3 members\t4 actions',
  ]);

  const out = join(folder, 'acme.ndjson.gz');
  expect((await fanfare(env, 'tenant', 'export', 'acme', '--out', out)).notes).toMatch(/lines written to/);
  const text = gunzipSync(await readFile(out)).toString();
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly in?: string; readonly end?: Record<string, number> });
  expect(lines[0]).toMatchObject({ format: 'fanfare-tenant-export/1', tenant: 'acme' });
  expect(text).not.toMatch(/blue|"other"(?!:)|\\u001f/);
  const counted: Record<string, number> = {};
  for (const { in: name } of lines) if (name !== undefined) counted[name] = (counted[name] ?? 0) + 1;
  expect(lines.at(-1)?.end).toEqual(counted);
  // Everything that the exports of its members hold, but for sums and what is made of the rest.
  // Extended JSON leaves the milliseconds of whole seconds out.
  const isThere = (leaf: string): boolean =>
    text.includes(leaf) || text.includes(leaf.replace(/\.000Z$/, 'Z'));
  for (const exported of exports)
    expect(leavesOf(exported['memberExport']).filter((leaf) => !isThere(leaf))).toEqual([]);
  await expect(fanfare(env, 'tenant', 'export', 'acme', '--out', out)).rejects.toThrow('already exists');

  const nobody = join(folder, 'acmee.ndjson');
  await expect(fanfare(env, 'tenant', 'export', 'acmee', '--out', nobody)).rejects.toThrow(
    'Nothing is stored about acmee: no file was written',
  );
  expect((await readdir(folder)).filter((name) => name.startsWith('acmee'))).toEqual([]);

  const before = await contents(app);
  const kept = ofTenant(before, 'other');
  const gone = ofTenant(before, 'acme');
  // Both have something in the same collections, and as much of it. Only scores are made when a quarter of an hour begins, of what is there.
  expect({ ...counts(gone), scores: null }).toEqual({ ...counts(kept), scores: null });
  const filled = [...gone].flatMap(([name, texts]) => (texts.length > 0 ? name : []));
  const ofTenants = COLLECTIONS.filter((one) => tenantIn(one).length > 0).map(({ name }) => name);
  // Queues that are empty, and feeds as other models store them.
  const empty = ['eventOutbox', 'webhookDeliveries', ...FEED_COLLECTIONS.map(({ name }) => name)];
  expect(ofTenants.filter((name) => !filled.includes(name) && !empty.includes(name))).toEqual([]);
  await expect(fanfare(env, 'tenant', 'erase', 'acme')).rejects.toThrow('--yes is missing');
  await fanfare(env, 'tenant', 'erase', 'acme', '--yes');
  const after = await contents(app);
  expect([...ofTenant(after, 'acme').values()].flat()).toEqual([]);
  // A hash of the name of who was erased is all that has come.
  expect(ofTenant(after, 'other')).toEqual(new Map([...kept, ['erasedTenants', []]]));
  expect(after.get('erasedTenants')).toHaveLength(1);
  expect(after.get('erasedTenants')?.join()).not.toContain('acme');
  // Also where nobody is named, such as by hashes: as many documents as one tenant alone makes.
  for (const name of ['publications', 'erasures', 'interactions'])
    expect([name, (after.get(name) ?? []).length * 2]).toEqual([name, (before.get(name) ?? []).length]);
  expect((await fanfare(env, 'tenant', 'list')).out).toBe('other\t3 members\t4 actions');
  // Once more does no harm.
  expect((await fanfare(env, 'tenant', 'erase', 'acme', '--yes')).out).toBe('');
  expect((await contents(app)).get('actions')).toEqual(after.get('actions'));
});

/** Texts, ids and times of an export that are stored somewhere. */
function leavesOf(value: unknown, key = ''): string[] {
  // What is not stored where it is the usual, and what is said of the export itself.
  if (['exportedAt', 'format', 'as', 'state'].includes(key)) return [];
  if (typeof value === 'string') return value === '' ? [] : [JSON.stringify(value).slice(1, -1)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, Array.isArray(value) ? key : name));
}

test('a database without tenants is adopted by one, whose members see everything as before', async () => {
  const database = await borrowDatabase();
  let ids: { readonly action: string; readonly comment: string };
  let before: Record<string, unknown>;
  let env: Readonly<Record<string, string>>;
  {
    await using app = await startTestApp({ env: EVENTS, database });
    const site = new Site(app, null);
    ids = await fill(site, 'red');
    await settled(app);
    await site.read(ids);
    before = await site.read(ids);
    env = { ...app.env, TENANT_CLAIM, LOG_LEVEL: 'silent' };
    await expect(fanfare(env, 'tenant', 'adopt', 'acme')).rejects.toThrow(/^1 processes run on the database/);
    // Refused, it has left nothing behind.
    expect((await site.ask('{ viewer { memberId } }')).errors).toEqual([]);
  }
  const shared = await openShared(database);
  // It is killed in the middle, and nobody can start before it was done.
  let writes = 0;
  await expect(
    adoptDatabase(shared, COLLECTIONS, 'acme', {
      now: new Date(),
      onProgress: () => {
        writes += 1;
        if (writes === 5) throw new Error('Killed');
      },
    }),
  ).rejects.toThrow('Killed');
  for (const claim of [{}, { TENANT_CLAIM }])
    await expect(startTestApp({ env: { ...EVENTS, ...claim }, database })).rejects.toThrow(
      'The database is being adopted into the tenant acme: fanfare tenant adopt acme continues',
    );
  await expect(fanfare(env, 'tenant', 'adopt', 'other')).rejects.toThrow(
    'is being adopted into the tenant acme',
  );
  await fanfare(env, 'tenant', 'adopt', 'acme');
  await expect(
    adoptDatabase(shared, COLLECTIONS, 'acme', { now: new Date(), onProgress: () => undefined }),
  ).rejects.toThrow(AdoptionRefused);

  await using app = await startTestApp({ env: { ...EVENTS, TENANT_CLAIM }, database });
  const [acme, other] = [new Site(app, 'acme'), new Site(app, 'other')];
  await settled(app);
  // Stored feeds are made again for who reads.
  await acme.read(ids);
  await settled(app);
  const after = await acme.read(ids);
  for (const [call, answer] of Object.entries(before))
    expect({ call, answer: after[call] }).toEqual({ call, answer });
  expect(JSON.stringify(after)).not.toContain(TENANT_SEPARATOR);
  // Keys are known: what was published stays one action, what was deleted stays deleted; likes are taken back.
  const again = async (key: string) =>
    acme.ask(
      `mutation ($key: String!) { publishAction(input: { actorId: "bob", idempotencyKey: $key,
        descriptor: { posted: { postId: "p1" } } }) { isReplay action { id } } }`,
      { key },
    );
  expect((await again('main')).data).toEqual({
    publishAction: { isReplay: true, action: { id: ids.action } },
  });
  expect((await again('doomed')).errors).toMatchObject([{ extensions: { code: 'CONFLICT' } }]);
  const unlike = `mutation ($id: ID!) { removeInteraction(input: { own: { actionId: $id, kind: LIKE } }) { action { engagement { likes } } } }`;
  expect(JSON.stringify((await acme.do(unlike, { id: ids.action }, 'cid'))['removeInteraction'])).toContain(
    '"likes":0',
  );
  expect((await other.ask('{ member(memberId: "ann") { name } ref(refId: "site") { label } }')).data).toEqual(
    {
      member: null,
      ref: null,
    },
  );
  // No id is left without its tenant.
  for (const [name, texts] of await contents(app))
    if (COLLECTIONS.some((declared) => declared.name === name && tenantIn(declared).length > 0))
      for (const text of texts)
        expect(text.replaceAll('"type":"site"', '')).not.toMatch(
          /"(?:ann|bob|cid|site|t1|d1|user:ann|team:t1)"/,
        );
  await app.app.close();
});

test.each([
  [['list'], {}, null],
  [['erase', 'Acme', '--yes'], {}, /^<tenant> got "Acme", expected 1 to 63/],
  [['erase', 'acme', '--yes'], {}, /^TENANT_CLAIM is not set/],
  [['erase', 'acme', '--yes'], { TENANT_CLAIM }, /^Nothing is stored about acme: nothing was removed/],
  [['adopt', 'acme'], { TENANT_CLAIM }, /^The database is empty/],
] as const)('tenant %j with %j', async (args, more, refusal) => {
  const database = await borrowDatabase();
  const env = {
    ...{ MONGODB_URI: inject('mongodbUri'), REDIS_URL: inject('redisUrl') },
    ...{ MONGODB_DB: database, LOG_LEVEL: 'silent', ...more },
  };
  const run = fanfare(env, 'tenant', ...args);
  if (refusal === null)
    expect(await run).toEqual({
      out: '',
      notes: expect.stringContaining('Nothing is stored about any tenant') as string,
    });
  else await expect(run).rejects.toThrow(refusal);
});
