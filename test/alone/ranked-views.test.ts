import { parse } from 'graphql';
import { ObjectId } from 'mongodb';
import { beforeAll, expect, test } from 'vitest';
import { generationAt } from '../../src/domain/ranking.ts';
import { checkHostConfig, defineConfig } from '../../src/descriptors/host-config.ts';
import { useDescriptors } from '../../src/descriptors/registry.ts';
import { field } from '../../src/descriptors/field.ts';
import { defineDescriptor } from '../../src/descriptors/authoring.ts';
import { MAX_SHOWN_ACTIONS } from '../../src/features/impressions/store.ts';
import { buildSchema } from '../../src/app/schema.ts';
import { findOperation } from '../../src/graphql/limits/document-limits.ts';
import { operationCost } from '../../src/graphql/limits/cost.ts';
import { checkViews } from '../../src/feed/page/views.ts';
import { clock } from '../../src/lib/clock.ts';
import { startTestApp } from '../support/app.ts';
import { fc } from '../support/fast-check.ts';
import { ask } from '../support/feed-api.ts';
import { openParts, type Parts } from '../support/parts.ts';
import { repeats } from '../support/seed.ts';

const HOT = 'likes * 3.0 + comments * 5.0 - ageHours * 0.7 + (isFollowed ? 2.0 : 0.0)';
const MIXED =
  'relationship * 10.0 + ("news" in tags ? 4.0 : 0.0) + (type == "Recipe" ? descriptor.rating : 0.5) + (descriptor.course == "MAIN" ? 0.25 : 0.0) + ("MENTION" in reasons ? 1.0 : 0.0)';
const label = { en: 'View' };

beforeAll(() => {
  const config = defineConfig({
    descriptors: [
      defineDescriptor('Recipe', {
        description: 'A recipe.',
        fields: {
          title: field.text(),
          rating: field.int({ min: 0, max: 5 }),
          course: field.enum(['MAIN', 'DESSERT'], { optional: true }),
        },
        summary: { en: '{actor} wrote {title}' },
      }),
    ],
    views: {
      hot: { label, order: { rank: HOT } },
      week: { label, order: { rank: HOT }, window: '7d', filter: { actorIds: ['bob'] } },
      mixed: { label, order: { rank: MIXED } },
      fresh: { label, order: { rank: '0.0 - impressions' } },
      found: { label, filter: { text: 'soup' } },
      share: { label, order: { rank: '1.0 / likes' } },
    },
  });
  useDescriptors(checkHostConfig(config, 'test/alone/ranked-views.test.ts'));
  checkViews();
});

const HOUR = 3_600_000;

interface Sample {
  readonly actorId: string;
  readonly ageHours: number;
  readonly likes: number;
  readonly comments: number;
}

/** A moment at which no generation begins while the test runs, since scoring asks for the current time. */
const generation = (): number => generationAt(new Date(clock.time() - 15 * 60_000)).getTime();

async function published(parts: Parts, samples: readonly Sample[], at: number): Promise<string[]> {
  await parts.services.followMany(parts.service, [{ followerId: 'ann', refId: 'bob' }]);
  const outcomes = await parts.services.publishActions(
    parts.service,
    samples.map(({ actorId, ageHours }) => ({
      ...{ actorId, mentions: ['ann'] },
      conducted: new Date(at - ageHours * HOUR),
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: 'x' } },
    })),
  );
  const ids = outcomes.map(({ action }) => action?.id ?? '');
  for (const [n, { likes, comments }] of samples.entries()) {
    const kinds = [...Array<string>(likes).fill('LIKE'), ...Array<string>(comments).fill('COMMENT')];
    for (const [k, kind] of kinds.entries())
      await parts.services.addInteraction(parts.session(`fan${String(k)}`, 'admin'), {
        ...{ actionId: ids[n] ?? '', kind },
      });
  }
  await parts.fanOut();
  // From here on it is the latest generation, whatever the time.
  await parts.rescore(new Date(at + 1));
  return ids;
}

async function walked(
  parts: Parts,
  view: string,
  first: number,
  between?: () => Promise<void>,
): Promise<string[]> {
  const ids: string[] = [];
  for (let after: string | null = null; ;) {
    const page = await parts.services.readFeed(parts.session('ann'), { view, first, after });
    ids.push(...page.edges.map(({ node }) => node.actionId));
    if (!page.hasMore) return ids;
    expect(page.edges).toHaveLength(first);
    after = page.end;
    await between?.();
  }
}

async function walkedUp(parts: Parts, view: string, last: number): Promise<string[]> {
  const ids: string[] = [];
  for (let before: string | null = null; ;) {
    const page = await parts.services.readFeed(parts.session('ann'), { view, last, before });
    ids.unshift(...page.edges.map(({ node }) => node.actionId));
    if (!page.hasMore) return ids;
    before = page.end;
  }
}

const sample = fc.record({
  actorId: fc.constantFrom('bob', 'cid', 'dan'),
  ageHours: fc.constantFrom(0, 0.5, 1, 3, 3, 20, 25, 60, 400),
  likes: fc.constantFrom(0, 0, 1, 3),
  comments: fc.constantFrom(0, 0, 1, 2),
});

test('a ranked view is ordered by its expression, whichever pages it is read by, and stays so while it is paged', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(sample, { minLength: 1, maxLength: 14 }),
      fc.integer({ min: 1, max: 6 }),
      async (samples, size) => {
        await using parts = await openParts();
        const at = generation();
        const ids = await published(parts, samples, at);
        const ranked = samples
          .map(({ actorId, ageHours, likes, comments }, n) => ({
            id: ids[n] ?? '',
            value: likes * 3 + comments * 5 - ageHours * 0.7 + (actorId === 'bob' ? 2 : 0),
          }))
          .sort((a, b) => b.value - a.value || (a.id < b.id ? 1 : -1))
          .map(({ id }) => id);
        expect(await walked(parts, 'hot', size)).toEqual(ranked);
        expect(await walkedUp(parts, 'hot', size)).toEqual(ranked);
        // What is liked meanwhile moves in the next generation.
        const liked = ids[0] ?? '';
        let fans = 0;
        const like = async (): Promise<void> => {
          const session = parts.session(`late${String((fans += 1))}`, 'admin');
          await parts.services.addInteraction(session, { actionId: liked, kind: 'LIKE' });
        };
        expect(await walked(parts, 'hot', size, like)).toEqual(ranked);
        const ofBob = new Set(
          samples.flatMap(({ actorId, ageHours }, n) =>
            actorId === 'bob' && ageHours < 24 * 7 ? (ids[n] ?? []) : [],
          ),
        );
        expect(await walked(parts, 'week', size)).toEqual(ranked.filter((id) => ofBob.has(id)));
      },
    ),
    { numRuns: repeats(4) },
  );
});

test('all that an action has can rank it, and explanations say by what', async () => {
  await using parts = await openParts();
  const service = parts.service;
  const recipe = { title: 'Soup', rating: 4, course: 'MAIN', tags: ['news'] };
  const outcomes = await parts.services.publishActions(service, [
    { actorId: 'bob', scope: 'RESTRICTED', recipients: ['ann'], descriptor: { recipe } },
    {
      actorId: 'cid',
      mentions: ['ann'],
      descriptor: { custom: { verb: 'v', objectType: 'o', objectId: 'x' } },
    },
    {
      actorId: 'dan',
      scope: 'RESTRICTED',
      recipients: ['ann'],
      descriptor: { recipe: { title: 'Cake', rating: 5, tags: [] } },
    },
  ]);
  await parts.fanOut();
  const ids = outcomes.map(({ action }) => action?.id ?? '');
  expect(await walked(parts, 'mixed', 2)).toEqual([0, 2, 1].map((n) => ids[n]));
  const { score, scoreVars } = await parts.services.explainFeedItem(
    parts.session('ann'),
    ids[0] ?? '',
    null,
    {
      view: 'mixed',
    },
  );
  expect(score).toBeCloseTo(4 + 4 + 0.25, 10);
  expect(scoreVars).toEqual({
    generation: expect.any(String) as string,
    ...{ relationship: 0, tags: ['news'], type: 'Recipe', reasons: ['RECIPIENT'] },
    ...{ 'descriptor.rating': 4, 'descriptor.course': 'MAIN' },
  });
  const none = await parts.services.explainFeedItem(parts.session('ann'), ids[0] ?? '', null, {
    view: 'share',
  });
  expect(none).toMatchObject({ isInFeed: true, score: null, scoreVars: { likes: 0 } });
});

test('items without a value follow those that have one', async () => {
  await using parts = await openParts();
  const at = generation();
  const plain = { actorId: 'bob', ageHours: 1, comments: 0 };
  const ids = await published(
    parts,
    [0, 2, 0, 1].map((likes) => ({ ...plain, likes })),
    at,
  );
  expect(await walked(parts, 'share', 1)).toEqual([3, 1, 2, 0].map((n) => ids[n]));
});

test('what lies beyond the newest thousand follows, newest first, also while new items arrive', async () => {
  await using parts = await openParts();
  const at = generation();
  const ids: string[] = [];
  for (let from = 0; from < 1_100; from += 100) {
    const outcomes = await parts.services.publishActions(
      parts.service,
      Array.from({ length: 100 }, (_, n) => ({
        actorId: 'bob',
        scope: 'RESTRICTED',
        recipients: ['ann'],
        // The older, the more relevant by their mention.
        mentions: (from + n) % 7 === 0 ? ['ann'] : [],
        conducted: new Date(at - (from + n) * 60_000),
        descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: 'x' } },
      })),
    );
    ids.push(...outcomes.map(({ action }) => action?.id ?? ''));
  }
  await parts.fanOut();
  const mentioned = (id: string): boolean => ids.indexOf(id) % 7 === 0;
  const list = await walked(parts, 'mixed', 100);
  expect([...list].sort()).toEqual([...ids].sort());
  // Those that mention the reader come first among what is ranked, at most a thousand; the rest is by time.
  const beyond = list.slice(1_000);
  expect(beyond).toEqual([...beyond].sort((a, b) => ids.indexOf(a) - ids.indexOf(b)));
  const first = list.findIndex((id) => !mentioned(id));
  expect(list.slice(0, first).every(mentioned)).toBe(true);
  expect(first).toBeGreaterThan(135);
  expect(await walkedUp(parts, 'mixed', 100)).toEqual(list);
  const grown = await walked(parts, 'mixed', 100, async () => {
    await parts.publish({
      actorId: 'cid',
      scope: 'RESTRICTED',
      recipients: ['ann'],
      conducted: new Date(at),
    });
    await parts.fanOut();
  });
  // New items are above or below the place where one reads, and move none of the others.
  expect(grown.filter((id) => ids.includes(id))).toEqual(list);
});

test('the API says which views are ranked, and that they have no order by name', async () => {
  await using app = await startTestApp({ worker: false });
  const query = '{ viewer { views { name order isRanked } } }';
  const { viewer } = await ask<{ viewer: { views: readonly object[] } }>(app, query, {}, { sub: 'ann' });
  expect(viewer.views[0]).toEqual({ name: 'hot', order: null, isRanked: true });
  // Metrics tell its pages from those of the feed.
  for (const args of ['view: "hot"', 'view: "hot", first: 5', 'first: 5'])
    await ask(app, `{ feed(${args}) { edges { cursor } } }`, {}, { sub: 'ann' });
  await ask(app, '{ feedGroups { edges { cursor } } }', {}, { sub: 'ann' });
  const metrics = await (await fetch(`${app.url}/metrics`)).text();
  const reads = metrics.split('\n').filter((line) => line.startsWith('fanfare_feed_reads_total{'));
  expect(reads.sort()).toEqual([
    'fanfare_feed_reads_total{view="(feed)"} 2',
    'fanfare_feed_reads_total{view="hot"} 2',
  ]);
});

test.each([
  [{ rank: 'likes * 3' }, /views\.wrong\.order\.rank: no such overload: double \* int/],
  [{ rank: 'hates' }, /views\.wrong\.order\.rank: Unknown variable: hates/],
])('a fault of an expression stops the start, with its place', (order, message) => {
  const { views } = checkHostConfig(defineConfig({ views: { wrong: { label, order } } }), 'test');
  expect(() => {
    checkViews(views);
  }).toThrow(message);
});

test('a ranking is not an order by name, and groups are not ranked', () => {
  for (const order of ['RANK', { rank: 'likes', more: 1 }])
    expect(() => checkHostConfig({ views: { wrong: { label, order } } }, 'test')).toThrow(
      /views\.wrong\.order/,
    );
  expect(() =>
    checkHostConfig({ views: { wrong: { label, grouped: true, order: { rank: 'likes' } } } }, 'test'),
  ).toThrow(/views\.wrong\.grouped/);
});

test('what a reader wants less of is halved for its actor and for its type, until it is taken back or 30 days later', async () => {
  await using parts = await openParts();
  const at = generation();
  const plain = { ageHours: 0, comments: 0 };
  const ids = await published(
    parts,
    [
      { ...plain, actorId: 'bob', likes: 4 },
      { ...plain, actorId: 'cid', likes: 3 },
      { ...plain, actorId: 'dan', likes: 2 },
    ],
    at,
  );
  const [bobs = '', cids = '', dans = ''] = ids;
  const order = async () => walked(parts, 'hot', 2);
  const top = async () => {
    const { edges } = await parts.services.readFeed(parts.session('ann'), { order: 'TOP' });
    return edges.map(({ node }) => node.actionId);
  };
  expect([await order(), await top()]).toEqual([ids, ids]);
  const share = async (view: string | null) => {
    const why = await parts.services.explainFeedItem(parts.session('ann'), bobs, null, { view });
    return [why.score, (why.scoreVars as { showsLess?: number } | null)?.showsLess];
  };
  const [before, scoreBefore] = [await share('hot'), await share(null)];
  expect(before).toEqual([14, undefined]);
  // All are of one type: only the actor makes a difference.
  await parts.services.showLess(parts.session('ann'), bobs);
  expect([await order(), await top()]).toEqual([
    [cids, bobs, dans],
    [cids, dans, bobs],
  ]);
  expect(await share('hot')).toEqual([14 / 4, 0.25]);
  expect((await share(null))[0]).toBeCloseTo(Number(scoreBefore[0]) / 4, 10);
  // Nobody else is concerned, and nobody learns of it.
  await expect(parts.services.showLess(parts.session('ann'), '0'.repeat(24))).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
  await parts.services.undoShowLess(parts.session('ann'), bobs);
  expect([await order(), await share('hot')]).toEqual([ids, before]);
});

test('a score below 0 is lowered too', async () => {
  await using parts = await openParts();
  const plain = { likes: 0, comments: 0 };
  const ids = await published(
    parts,
    [
      { ...plain, actorId: 'cid', ageHours: 10 },
      { ...plain, actorId: 'dan', ageHours: 12 },
    ],
    generation(),
  );
  const [cids = '', dans = ''] = ids;
  expect(await walked(parts, 'hot', 5)).toEqual([cids, dans]);
  await parts.services.showLess(parts.session('ann'), cids);
  expect(await walked(parts, 'hot', 5)).toEqual([dans, cids]);
});

test('what was shown counts once for each action, view and hour, from the next generation on, and half as much a day later', async () => {
  await using parts = await openParts({ keepsImpressions: true });
  const at = generation();
  const plain = { actorId: 'bob', ageHours: 1, likes: 0, comments: 0 };
  const [one = '', other = ''] = await published(parts, [plain, plain], at);
  const reader = parts.session('ann');
  const shown = async (view: string) => {
    const { scoreVars } = await parts.services.explainFeedItem(reader, one, null, { view });
    return (scoreVars as { impressions: number }).impressions;
  };
  const record = (impressions: Parameters<typeof parts.services.recordImpressions>[1]) =>
    parts.services.recordImpressions(parts.session('ann'), impressions);
  expect(
    await record([
      { actionId: one, view: 'fresh', ms: 1_200 },
      { actionId: one },
      { actionId: one },
      { actionId: '0'.repeat(24) },
    ]),
  ).toBe(2);
  expect(await record([{ actionId: one }, { actionId: other, view: 'fresh' }])).toBe(1);
  // They came after the generation began: the order stays as it is.
  expect(await shown('fresh')).toBe(0);
  const { impressions } = parts.repositories;
  const soon = await impressions.before('ann', new Date(clock.time() + 1), 10);
  const later = await impressions.before('ann', new Date(clock.time() + 24 * 3_600_000), 10);
  expect(soon.get(one)).toBeCloseTo(2, 2);
  expect(later.get(one)).toBeCloseTo(1, 2);
  expect(await impressions.before('bob', new Date(clock.time() + 1), 10)).toEqual(new Map());
  await parts.rescore(new Date(clock.time() + 60 * 60_000));
  expect(await shown('fresh')).toBeGreaterThan(1.8);
  expect(await walked(parts, 'fresh', 5)).toEqual([other, one]);
  await impressions.purgeBefore(new Date(clock.time() + 1));
  expect(await impressions.before('ann', new Date(clock.time() + 1), 10)).toEqual(new Map());
});

test('of a reader who was shown too many actions nothing more is recorded until some are forgotten', async () => {
  await using parts = await openParts({ keepsImpressions: true });
  const plain = { actorId: 'bob', ageHours: 1, likes: 0, comments: 0 };
  const [one = ''] = await published(parts, [plain], generation());
  const { collections } = parts.database;
  const past = new Date(clock.time() - HOUR);
  await collections.impressions.insertMany(
    Array.from({ length: MAX_SHOWN_ACTIONS }, () => ({
      _id: { userId: 'ann', actionId: new ObjectId() },
      at: past,
    })),
  );
  const record = () => parts.services.recordImpressions(parts.session('ann'), [{ actionId: one }]);
  expect(await record()).toBe(0);
  await parts.repositories.impressions.purgeBefore(new Date(clock.time()));
  expect(await record()).toBe(1);
});

test('impressions are refused if they are wrong, and not kept unless the server is to', async () => {
  await using parts = await openParts();
  const [one = ''] = await published(
    parts,
    [{ actorId: 'bob', ageHours: 1, likes: 0, comments: 0 }],
    generation(),
  );
  const record = (impressions: Parameters<typeof parts.services.recordImpressions>[1]) =>
    parts.services.recordImpressions(parts.session('ann'), impressions);
  const bad = { code: 'BAD_USER_INPUT' };
  await expect(record([])).rejects.toMatchObject(bad);
  await expect(record(Array.from({ length: 101 }, () => ({ actionId: one })))).rejects.toMatchObject(bad);
  await expect(record([{ actionId: one, view: 'nowhere' }])).rejects.toMatchObject(bad);
  await expect(record([{ actionId: one, ms: -1 }])).rejects.toMatchObject(bad);
  expect(await record([{ actionId: one }])).toBe(0);
  expect((await parts.repositories.impressions.before('ann', new Date(clock.time() + 1e9), 10)).size).toBe(0);
});

test('the cost of an operation knows what a view reads', async () => {
  const schema = await buildSchema();
  const cost = (document: string, variables = {}): number => {
    const operation = findOperation(parse(document), undefined);
    if (operation === null) throw new Error('No such operation');
    return operationCost('usual', schema, operation, variables);
  };
  const feed = (args: string): number => cost(`{ feed(first: 3${args}) { edges { cursor } } }`);
  expect([feed(''), feed(', view: "hot"'), feed(', view: "found"'), feed(', view: "none"')]).toEqual([
    ...[4, 104, 1_004, 4],
  ]);
  const byVariable = 'query ($view: String) { feed(first: 3, view: $view) { edges { cursor } } }';
  expect([cost(byVariable, { view: 'hot' }), cost(byVariable)]).toEqual([104, 4]);
  const groups = (args: string): number => cost(`{ feedGroups(first: 3${args}) { edges { cursor } } }`);
  expect(groups(', view: "found"') - groups('')).toBe(1_000);
});
