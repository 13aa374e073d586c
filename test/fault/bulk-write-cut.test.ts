import type { CommandStartedEvent, Filter } from 'mongodb';
import { expect, inject, test } from 'vitest';
import { startTcpProxy, through, type TcpProxy } from '../integration/realtime/tcp-proxy.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { wholeList } from '../support/live-list.ts';
import { readiness } from '../support/local-engine.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { someOf } from '../support/seed.ts';
import { openShared } from '../support/spare-databases.ts';

const WITHIN = { timeout: PATIENCE_MS, interval: 50 };
const SERVICE = { sub: 'importer', roles: ['service'] } as const;
const FOLLOWERS = Array.from({ length: 120 }, (_, n) => `reader-${String(n)}`);
/** Delivery takes several writes, publishing two. */
const CHUNK = 50;
const ACTIONS = 150;
/** Of actions that are published. */
const WRITTEN_AT_ONCE = 100;

const PUBLISH = `mutation ($inputs: [PublishActionInput!]!) {
  publishActions(inputs: $inputs) { action { id } isReplay error { code } }
}`;
const FOLLOW = `mutation { follow(refId: "actor", copyLimit: ${String(ACTIONS)}) { __typename } }`;
const inputOf = (n: number) => ({
  actorId: 'actor',
  idempotencyKey: `key-${String(n)}`,
  descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: `post-${String(n)}` } },
});
const inputs = Array.from({ length: ACTIONS }, (_, n) => inputOf(n));

interface Published {
  readonly publishActions: readonly {
    readonly action: { readonly id: string };
    readonly isReplay: boolean;
  }[];
}

interface World extends AsyncDisposable {
  readonly app: TestApp;
  readonly proxy: TcpProxy;
}

/** The app reaches its database over a wire that can be cut. */
async function openWorld(env: Readonly<Record<string, string>> = {}): Promise<World> {
  const uri = inject('mongodbUri');
  const proxy = await startTcpProxy(uri);
  const app = await startTestApp({
    monitorCommands: true,
    env: {
      MONGODB_URI: through(uri, proxy),
      FAN_OUT_CHUNK: String(CHUNK),
      FAN_OUT_LEASE: '2s',
      POLL_INTERVAL: '50ms',
      ...env,
    },
  });
  return {
    app,
    proxy,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

type Lost = 'before it is sent' | 'before it is answered';
const BOTH: readonly Lost[] = ['before it is sent', 'before it is answered'];

interface Write {
  /** Of what it inserts. */
  readonly documents?: readonly { readonly _id: string }[];
  /** What it changes, or inserts where that is not there. */
  readonly updates?: readonly { readonly q: { readonly _id?: string; readonly userId?: string } }[];
}

/** What is in the collection once the write is done, and was not before. */
function writtenBy({ documents = [], updates = [] }: Write): readonly Filter<{ _id: string }>[] {
  return [
    ...documents.map(({ _id }) => ({ _id })),
    ...updates.map(({ q: { _id, userId } }) => (userId === undefined ? { _id: _id ?? '' } : { userId })),
  ];
}

/** Cuts the wire during the n-th of the bulk writes to a collection. Resolves when it is cut. */
async function cutAtWrite({ app, proxy }: World, collection: string, nth: number, lost: Lost): Promise<void> {
  const { db } = await openShared(app.database);
  const { client } = app.app.database.db;
  const write = await new Promise<Write>((resolve, reject) => {
    let writes = 0;
    const listen = ({ commandName, command }: CommandStartedEvent): void => {
      if (!['insert', 'update'].includes(commandName) || command[commandName] !== collection) return;
      // Not what workers do meanwhile.
      if (writtenBy(command).length < 2) return;
      writes += 1;
      if (writes < nth) return;
      client.off('commandStarted', listen);
      if (lost === 'before it is sent') proxy.cut();
      else proxy.mute();
      resolve(command);
    };
    client.on('commandStarted', listen);
    setTimeout(reject, PATIENCE_MS, new Error(`Too few writes to ${collection}`)).unref();
  });
  const written = writtenBy(write);
  if (lost === 'before it is sent') return;
  const stored = db.collection<{ _id: string }>(collection);
  await expect.poll(() => stored.countDocuments({ $or: [...written] }), WITHIN).toBe(written.length);
  proxy.cut();
}

async function isBack({ app, proxy }: World): Promise<void> {
  expect((await readiness(app)).status).toBe(503);
  proxy.heal();
  await expect.poll(async () => (await readiness(app)).status, WITHIN).toBe(200);
}

/** The ids in a reader's feed, in order. */
async function feedOf({ app }: World, userId: string): Promise<string[]> {
  const items = await wholeList(app.services, app.session(userId), { pageSize: 100 });
  return items.map(({ actionId }) => actionId);
}

async function followAll({ app }: World, followers: readonly string[]): Promise<void> {
  const pairs = followers.map((followerId) => ({ followerId, refId: 'actor' }));
  await app.services.followMany(app.identity('service', 'service'), pairs);
}

const localId = ({ action }: { readonly action: { readonly id: string } }): string =>
  Buffer.from(action.id, 'base64').toString().replace(/^.*:/, '');

test.each(BOTH)(
  'a publication whose bulk write is interrupted %s is UNAVAILABLE, and its retry completes it',
  async (lost) => {
    await using world = await openWorld();
    const { app } = world;
    await followAll(world, ['ann']);
    const cut = cutAtWrite(world, 'actions', 2, lost);
    const [answer] = await Promise.all([app.query<Published>(PUBLISH, { inputs }, SERVICE), cut]);
    expect(answer.errors.map(({ extensions }) => extensions.code)).toEqual(['UNAVAILABLE']);
    await isBack(world);
    const retried = await app.query<Published>(PUBLISH, { inputs }, SERVICE);
    expect(retried.errors).toEqual([]);
    const published = retried.data?.publishActions ?? [];
    const replays = lost === 'before it is sent' ? WRITTEN_AT_ONCE : ACTIONS;
    expect(published.filter(({ isReplay }) => isReplay)).toHaveLength(replays);
    await app.idle();
    expect((await feedOf(world, 'ann')).sort()).toEqual(published.map(localId).sort());
  },
);

const OTHER_MODELS = [
  ['capped', 'feedRings', 'before it is answered'],
  ['capped', 'feedSlots', 'before it is answered'],
  ['time-buckets', 'timeBuckets', 'before it is answered'],
  ['size-buckets', 'sizeBuckets', 'before it is answered'],
] as const;

test.each<readonly [string, string, Lost]>([
  ['items', 'newsfeedItems', 'before it is sent'],
  ['items', 'newsfeedItems', 'before it is answered'],
  ...someOf(OTHER_MODELS, 2),
])(
  'a delivery to feeds stored by %s whose bulk write to %s is interrupted %s reaches every reader once',
  async (model, collection, lost) => {
    await using world = await openWorld({ FEED_MODEL: model });
    const { app } = world;
    await followAll(world, FOLLOWERS);
    const cut = cutAtWrite(world, collection, 2, lost);
    const { action } = await app.services.publishAction(app.identity('service', 'service'), inputOf(0));
    await cut;
    await isBack(world);
    await app.idle();
    const [done] = await app.app.database.collections.actions.find().toArray();
    expect(done?.fanOut).toMatchObject({ state: 'DONE', error: null });
    for (const reader of FOLLOWERS)
      expect([reader, ...(await feedOf(world, reader))]).toEqual([reader, action.id]);
  },
);

test.each(someOf(BOTH, 1))(
  'a follow whose bulk write of past actions is interrupted %s is UNAVAILABLE, and adds each once',
  async (lost) => {
    await using world = await openWorld();
    const { app } = world;
    const published = await app.query<Published>(PUBLISH, { inputs }, SERVICE);
    const expected = published.data?.publishActions.map(localId).sort();
    await app.idle();
    expect(await feedOf(world, 'ann')).toEqual([]);
    await app.idle();
    const cut = cutAtWrite(world, 'newsfeedItems', 1, lost);
    const [answer] = await Promise.all([app.query(FOLLOW, {}, { sub: 'ann' }), cut]);
    expect(answer.errors.map(({ extensions }) => extensions.code)).toEqual(['UNAVAILABLE']);
    await isBack(world);
    expect((await app.query(FOLLOW, {}, { sub: 'ann' })).errors).toEqual([]);
    await app.idle();
    expect((await feedOf(world, 'ann')).sort()).toEqual(expected);
  },
);

const COMMENT = `mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { isReplay } }`;

async function commentOn({ app }: World, published: Published): Promise<readonly unknown[]> {
  const answers = await Promise.all(
    published.publishActions.map(({ action }, n) =>
      app.query(
        COMMENT,
        { input: { actionId: action.id, kind: 'COMMENT', idempotencyKey: `comment-${String(n)}` } },
        { sub: 'ann' },
      ),
    ),
  );
  return answers.flatMap(({ errors }) => errors.map(({ extensions }) => extensions.code));
}

test.each(BOTH)(
  'comments whose shared insert is interrupted %s count once, after they are given again, and raise their actions',
  async (lost) => {
    await using world = await openWorld();
    const { app } = world;
    await followAll(world, ['ann', 'ben']);
    const conducted = new Date(Date.now() - 3_600_000);
    const ago = inputs.slice(0, 30).map((input) => ({ ...input, conducted }));
    const { data } = await app.query<Published>(PUBLISH, { inputs: ago }, SERVICE);
    await app.idle();
    const published = data ?? { publishActions: [] };
    const cut = cutAtWrite(world, 'interactions', 1, lost);
    const [codes] = await Promise.all([commentOn(world, published), cut]);
    expect(new Set([...codes, 'UNAVAILABLE'])).toEqual(new Set(['UNAVAILABLE']));
    await isBack(world);
    expect(await commentOn(world, published)).toEqual([]);
    await app.idle();
    const actions = await app.app.database.collections.actions.find().toArray();
    expect(actions.map(({ engagement, fanOut }) => [engagement.comments, fanOut.state])).toEqual(
      ago.map(() => [1, 'DONE']),
    );
    const { db } = await openShared(app.database);
    const items = db.collection('newsfeedItems');
    expect(await items.countDocuments({})).toBe(2 * ago.length);
    expect(await items.countDocuments({ relevancy: { $gt: conducted } })).toBe(2 * ago.length);
  },
);
