import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { posted } from '../../src/app/hooks.ts';
import { createOffers } from '../../src/features/ranking/offers.ts';
import { checkHostConfig, defineConfig } from '../../src/descriptors/host-config.ts';
import { declaredViews, useDescriptors } from '../../src/descriptors/registry.ts';
import { encodeActionId, encodeNodeId } from '../../src/domain/node-ids.ts';
import { signatureHeaders, signingKey } from '../../src/domain/signature.ts';
import { storedId } from '../../src/domain/stored-id.ts';
import { checkViews } from '../../src/feed/page/views.ts';
import { Closer } from '../../src/lib/closer.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { clientOf, isLive, startWatch } from '../support/client-watches.ts';

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const label = { en: 'View' };

/** Answers each member as a test says. */
type Answers = (response: ServerResponse, request: IncomingMessage, body: string) => void;
const answers = new Map<string, Answers>();
const asked: { readonly view: string; readonly memberId: string }[] = [];
let url = '';

const host = createServer((request, response) => {
  void text(request).then((body) => {
    const { data } = JSON.parse(body) as { data: { view: string; memberId: string } };
    asked.push(data);
    (answers.get(data.memberId) ?? offers([]))(response, request, body);
  });
});

function offers(scores: readonly (readonly [id: string, score: number])[]): Answers {
  return (response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(scores.map(([actionId, score]) => ({ actionId, score }))));
  };
}

beforeAll(async () => {
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${String((host.address() as AddressInfo).port)}/picks`;
  const source = { url, secrets: [SECRET], allowPrivateAddress: true, timeoutMs: 2_000 };
  const config = defineConfig({
    views: {
      picks: { label, source },
      notes: { label, source, order: 'RELEVANCY', filter: { types: ['Posted'] } },
      hurried: { label, source: { ...source, timeoutMs: 50 } },
      own: { label, source, ownReadMark: true },
    },
  });
  useDescriptors(checkHostConfig(config, 'test/alone/source-views.test.ts'));
  checkViews();
});

afterAll(async () => {
  host.closeAllConnections();
  await new Promise((resolve) => host.close(resolve));
});

interface Posted {
  readonly actorId: string;
  readonly mentions?: readonly string[];
  readonly scope?: string;
}

const at = new Date(Date.now() - 3_600_000).getTime();

/** The first is the oldest. */
async function publish(app: TestApp, posts: readonly Posted[]): Promise<string[]> {
  const outcomes = await app.services.publishActions(
    app.identity('service', 'service'),
    posts.map((post, n) => ({
      scope: 'PUBLIC',
      ...post,
      conducted: new Date(at + n * 1_000),
      descriptor: { posted: { postId: `p${String(n)}`, postTitle: 'T', text: 'x' } },
    })),
  );
  await app.idle();
  return outcomes.map(({ action }) => encodeActionId(action?.id ?? ''));
}

const FEED = `query ($view: String, $first: Int, $after: String, $last: Int, $before: String, $filter: FeedFilter) {
  feed(view: $view, first: $first, after: $after, last: $last, before: $before, filter: $filter) {
    edges { cursor node { isUnread reasons action { id } } }
    pageInfo { hasNextPage endCursor }
    total { count isExact }
    unread { count isExact }
  }
}`;

interface FeedAnswer {
  readonly feed: {
    readonly edges: readonly {
      readonly cursor: string;
      readonly node: {
        readonly isUnread: boolean;
        readonly reasons: readonly string[];
        readonly action: { readonly id: string };
      };
    }[];
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
    readonly total: { readonly count: number };
    readonly unread: { readonly count: number };
  };
}

async function feed(app: TestApp, sub: string, variables: Record<string, unknown> = {}) {
  const answer = await app.query<FeedAnswer>(FEED, { view: 'picks', ...variables }, { sub });
  if (answer.data === null) throw new Error(JSON.stringify(answer.errors));
  const { edges, pageInfo, total, unread } = answer.data.feed;
  return { ids: edges.map(({ node }) => node.action.id), edges, pageInfo, total, unread };
}

const keyOf = (id: string): string => Buffer.from(id, 'base64').toString().split(':')[1] ?? '';

test('shows what the host offers, highest first, also what is not in the feed, and pages in both directions', async () => {
  await using app = await startTestApp();
  const [named = '', open = '', best = '', other = ''] = await publish(app, [
    { actorId: 'bob', mentions: ['ann'] },
    { actorId: 'bob' },
    { actorId: 'cid' },
    { actorId: 'cid', mentions: ['ann'] },
  ]);
  answers.set(
    'ann',
    offers([
      [named, 2],
      [open, 1.5],
      [best, 9],
    ]),
  );
  const first = await feed(app, 'ann', { first: 2 });
  expect(first.ids).toEqual([best, named]);
  expect(first.edges.map(({ node }) => node.reasons)).toEqual([[], ['MENTION']]);
  expect([first.total.count, first.unread.count, first.pageInfo.hasNextPage]).toEqual([3, 3, true]);
  const second = await feed(app, 'ann', { first: 2, after: first.pageInfo.endCursor });
  expect([second.ids, second.pageInfo.hasNextPage]).toEqual([[open], false]);
  const up = await feed(app, 'ann', { last: 5, before: second.edges[0]?.cursor });
  expect(up.ids).toEqual([best, named]);
  expect((await feed(app, 'ann', { filter: { actorIds: ['cid'] } })).ids).toEqual([best]);
  // The feed itself has what it has, and the view had one question for all of this.
  const own = await app.query<FeedAnswer>(FEED, {}, { sub: 'ann' });
  expect(own.data?.feed.edges.map(({ node }) => node.action.id)).toEqual([other, named]);
  expect(asked.filter(({ memberId }) => memberId === 'ann')).toHaveLength(1);
  expect(asked[0]).toEqual({ view: 'picks', memberId: 'ann', most: 500 });
});

test('the rules decide: nothing hidden, blocked, muted, put away, unknown, foreign or named twice is shown', async () => {
  await using app = await startTestApp();
  const [fine = '', hidden = '', blocked = '', muted = '', away = '', narrow = '', deleted = ''] =
    await publish(app, [
      { actorId: 'bob' },
      { actorId: 'bob' },
      { actorId: 'bad' },
      { actorId: 'loud' },
      { actorId: 'bob' },
      { actorId: 'bob', scope: 'FOLLOWERS' },
      { actorId: 'bob' },
    ]);
  await app.services.hideAction(app.session('mona', 'moderator'), keyOf(hidden), 'no');
  await app.services.deleteAction(app.session('bob'), keyOf(deleted));
  await app.services.blockMember(app.session('lia'), 'bad');
  await app.services.addMute(app.session('lia'), { memberId: 'loud' });
  await app.services.setItemState(app.session('lia'), keyOf(away), 'HIDDEN');
  const unknown = encodeActionId('0'.repeat(24));
  const all = [
    hidden,
    blocked,
    muted,
    away,
    narrow,
    deleted,
    unknown,
    encodeNodeId('Member', 'bob'),
    'x',
    '',
  ];
  answers.set('lia', offers([...all.map((id): [string, number] => [id, 5]), [fine, 1], [fine, 7]]));
  const page = await feed(app, 'lia');
  expect([page.ids, page.total.count]).toEqual([[fine], 1]);
});

test('what only the host offers is archived and snoozed in the view, and comes back there', async () => {
  await using app = await startTestApp();
  const [inFeed = '', open = '', later = ''] = await publish(app, [
    { actorId: 'bob', mentions: ['kim'] },
    { actorId: 'bob' },
    { actorId: 'bob' },
  ]);
  const all = [inFeed, open, later];
  answers.set('kim', offers(all.map((id, n): [string, number] => [id, 3 - n])));
  const put = app.services.setItemState;
  const until = new Date(Date.now() + 3_600_000);
  for (const id of [inFeed, open]) await put(app.session('kim'), keyOf(id), 'ARCHIVED');
  await put(app.session('kim'), keyOf(later), 'SNOOZED', until);
  const lists = async () => {
    const [view, archive, snoozed] = await Promise.all(
      [{}, { archived: true }, { snoozed: true }].map((filter) => feed(app, 'kim', { filter })),
    );
    return { view: view?.ids, archive: archive?.ids, snoozed: snoozed?.ids, count: archive?.total.count };
  };
  expect(await lists()).toEqual({ view: [], archive: [inFeed, open], snoozed: [later], count: 2 });
  expect((await feed(app, 'kim', { view: null, filter: { archived: true } })).ids).toEqual([inFeed]);
  const back = app.services.clearItemState;
  for (const id of [inFeed, open]) await back(app.session('kim'), keyOf(id), 'ARCHIVED');
  await back(app.session('kim'), keyOf(later), 'SNOOZED');
  expect(await lists()).toEqual({ view: all, archive: [], snoozed: [], count: 0 });
});

const LIES: Readonly<Record<string, Answers>> = {
  'not JSON': (response) => response.end('<html>'),
  NaN: (response) => response.end('[{"actionId":"x","score":NaN}]'),
  infinite: (response) => response.end('[{"actionId":"x","score":1e999}]'),
  texts: (response) => response.end('[{"actionId":"x","score":"7"}]'),
  'an object': (response) => response.end('{"actionId":"x","score":1}'),
  nothing: (response) => response.end(),
  'too many': offers(Array.from({ length: 501 }, (_, n): [string, number] => [`a${String(n)}`, n])),
  'ten thousand': offers(Array.from({ length: 10_000 }, (_, n): [string, number] => [`a${String(n)}`, n])),
  'an error': (response) => response.writeHead(500).end('[]'),
  'a redirect': (response) => response.writeHead(302, { location: url }).end(),
  closed: (response) => response.destroy(),
  half: (response) =>
    response.writeHead(200, { 'content-length': '99' }).write('[', () => response.destroy()),
};

test('a host that fails or lies gives the view its fallback, and never an error', async () => {
  await using app = await startTestApp();
  const readers = Object.keys(LIES).map((_, n) => `liar${String(n)}`);
  const [older = '', newer = ''] = await publish(app, [
    { actorId: 'bob', mentions: readers },
    { actorId: 'bob', mentions: readers },
  ]);
  for (const [n, [name, lie]] of Object.entries(LIES).entries()) {
    const reader = `liar${String(n)}`;
    answers.set(reader, lie);
    const first = await feed(app, reader, { first: 1 });
    expect([name, first.ids, first.total.count, first.unread.count]).toEqual([name, [newer], 2, 2]);
    const second = await feed(app, reader, { first: 1, after: first.pageInfo.endCursor });
    expect([name, second.ids]).toEqual([name, [older]]);
  }
  const failed = app.log.filter((line) => line.includes('The source of a view did not answer'));
  expect(failed).toHaveLength(1);
  expect(await app.figures()).toContain(
    `fanfare_source_answers_total{view="picks",outcome="failed"} ${String(readers.length)}`,
  );
});

test('a host that never ends costs its time limit, once for all who wait', async () => {
  await using app = await startTestApp();
  const [id = ''] = await publish(app, [{ actorId: 'bob', mentions: ['slow'] }]);
  answers.set('slow', (response) => response.writeHead(200).write('['));
  const pages = await Promise.all([1, 2, 3].map(() => feed(app, 'slow', { view: 'hurried' })));
  expect(pages.map(({ ids }) => ids)).toEqual([[id], [id], [id]]);
  expect(asked.filter(({ memberId }) => memberId === 'slow')).toHaveLength(1);
});

test('a page goes on as the first one began, when the host is away or back meanwhile', async () => {
  await using first = await startTestApp();
  await using second = await startTestApp({ database: first.database, worker: false });
  const ids = await publish(first, [
    { actorId: 'bob', mentions: ['gus'] },
    { actorId: 'bob', mentions: ['gus'] },
  ]);
  const [older = '', newer = ''] = ids;
  answers.set(
    'gus',
    offers([
      [older, 2],
      [newer, 1],
    ]),
  );
  const offered = await feed(first, 'gus', { first: 1 });
  expect(offered.ids).toEqual([older]);
  answers.set('gus', (response) => response.destroy());
  // The other process has no answer.
  const without = await feed(second, 'gus', { first: 1 });
  expect(without.ids).toEqual([newer]);
  expect((await feed(second, 'gus', { after: offered.pageInfo.endCursor })).ids).toEqual([]);
  expect((await feed(first, 'gus', { after: without.pageInfo.endCursor })).ids).toEqual([older]);
});

test('counts of all views, explanations and watchers go by the same offer', async () => {
  await using app = await startTestApp();
  const [inFeed = '', open = '', left = ''] = await publish(app, [
    { actorId: 'bob', mentions: ['ida'] },
    { actorId: 'bob' },
    { actorId: 'bob', mentions: ['ida'] },
  ]);
  answers.set(
    'ida',
    offers([
      [inFeed, 3],
      [open, 4],
    ]),
  );
  const views = await app.query<{
    viewer: { views: { name: string; order: string | null; isRanked: boolean; unread: { count: number } }[] };
  }>('{ viewer { views { name order isRanked unread { count } } } }', {}, { sub: 'ida' });
  expect(
    views.data?.viewer.views.map(({ name, order, isRanked, unread }) => [
      name,
      order,
      isRanked,
      unread.count,
    ]),
  ).toEqual(['picks', 'notes', 'hurried', 'own'].map((name) => [name, null, true, 2]));
  const explain = async (id: string) => {
    const answer = await app.query<{ explainFeedItem: Record<string, unknown> }>(
      'query ($id: ID!) { explainFeedItem(actionId: $id, view: "picks") { isInFeed leftOutBy withheldBy score scoreVars } }',
      { id },
      { sub: 'ida' },
    );
    return answer.data?.explainFeedItem ?? answer.errors;
  };
  expect(await explain(inFeed)).toMatchObject({
    isInFeed: true,
    leftOutBy: [],
    score: 3,
    scoreVars: { offered: 3 },
  });
  expect(await explain(open)).toMatchObject({ isInFeed: true, withheldBy: [], score: 4 });
  expect(await explain(left)).toMatchObject({ isInFeed: false, leftOutBy: ['source'] });
  const client = await clientOf(app, 'ida');
  await using watch = startWatch(client, { view: 'picks' });
  await watch.until(isLive);
  for (const id of [left, inFeed])
    await app.services.addInteraction(app.session('bob'), { actionId: keyOf(id), kind: 'LIKE' });
  const isAbout = (id: string) => (event: (typeof watch.events)[number]) =>
    event.__typename === 'FeedItemUpdated' && event.item.action.id === id;
  await watch.until(({ events }) => events.some(isAbout(inFeed)));
  expect(watch.events.some(isAbout(left))).toBe(false);
  client.close();
  // Each is read where it stands, and an own mark takes all.
  const marked = await app.query(
    'mutation ($id: ID!, $at: DateTime!) { markItemsRead(actionIds: [$id]) { __typename } markFeedRead(upTo: $at, view: "own") { __typename } }',
    { id: open, at: new Date().toISOString() },
    { sub: 'ida' },
  );
  expect(marked.errors).toEqual([]);
  expect((await feed(app, 'ida')).unread.count).toBe(1);
  expect((await feed(app, 'ida', { view: 'own' })).unread.count).toBe(0);
});

test('asks with the signature of webhooks, and again when the answer is half a minute old', async () => {
  await using closer = new Closer();
  let now = 0;
  const bodies: string[] = [];
  answers.set('zoe', (response, request, body) => {
    bodies.push(body);
    const { 'webhook-id': id, 'webhook-timestamp': seconds } = request.headers;
    const signed = signatureHeaders([signingKey(SECRET) ?? new Uint8Array()], {
      ...{ id: String(id), body, sentAt: new Date(Number(seconds) * 1_000) },
    });
    expect(request.headers['webhook-signature']).toBe(signed['webhook-signature']);
    offers([])(response, request, body);
  });
  const [view] = declaredViews();
  const failed: unknown[] = [];
  const { of } = createOffers({
    hostOf: () => (view?.source == null ? null : posted('source', view.source, { timeoutMs: 2_000 }, closer)),
    onAnswer: (_view, err) => failed.push(err),
    now: () => now,
  });
  expect((await of('picks', 'zoe'))?.size).toBe(0);
  now = 29_999;
  await of('picks', 'zoe');
  expect(bodies).toHaveLength(1);
  now = 30_000;
  await Promise.all([of('picks', 'zoe'), of('picks', 'zoe')]);
  expect(bodies).toHaveLength(2);
  expect(failed).toEqual([null, null]);
  await of('picks', storedId('acme', 'zoe'));
  expect(JSON.parse(bodies[2] ?? '')).toMatchObject({ data: { memberId: 'zoe', tenant: 'acme' } });
  expect(JSON.parse(bodies[0] ?? '')).toEqual({
    type: 'source',
    data: { view: 'picks', memberId: 'zoe', most: 500 },
  });
});

test.each([
  [{ source: { url: 'http://10.0.0.1/', secrets: [SECRET] } }, /views\.wrong\.source\.url: https:/],
  [{ source: { url: 'https://app/picks', secrets: [] } }, /views\.wrong\.source\.secrets/],
  [{ source: { url: 'https://app/picks', secrets: ['no'] } }, /views\.wrong\.source\.secrets\[0\]: whsec_/],
  [
    { source: { url: 'https://app/picks', secrets: [SECRET], timeoutMs: 2_001 } },
    /source\.timeoutMs: Must be at most 2000/,
  ],
  [
    { source: { url: 'https://app/picks', secrets: [SECRET] }, grouped: true },
    /views\.wrong\.grouped: Groups are in order/,
  ],
  [
    { source: { url: 'https://app/picks', secrets: [SECRET] }, order: { rank: 'likes' } },
    /views\.wrong\.order: A source has scores/,
  ],
])('a fault of a source is found at the start: %#', (view, message) => {
  const config = { views: { wrong: { label, ...view } } };
  expect(() => checkHostConfig(config, 'The test')).toThrow(message);
});

test('a fallback that is no order is found at the start', () => {
  const [view] = declaredViews();
  if (view?.source == null) throw new Error('No view has a source');
  const checked = (more: object) => () => {
    checkViews([{ ...view, name: 'wrong', ...more }]);
  };
  expect(checked({ source: { ...view.source, fallback: 'BEST' } })).toThrow(
    /views\.wrong\.order: Unknown order "BEST"; known are RELEVANCY, RECENT, TOP/,
  );
  expect(checked({ source: null })).toThrow(/views\.wrong\.order: Must have a source/);
});
