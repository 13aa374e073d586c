import { expect, test, vi } from 'vitest';
import { FEED_MODEL_NAMES } from '../../src/app/feed-models.ts';
import type * as Extents from '../../src/feed/extent.ts';
import type { Count, Page, PageArgs } from '../../src/core/shapes.ts';
import { fc } from '../support/fast-check.ts';
import { archiveFor, feedFor, type ModelItem } from '../support/model.ts';
import { openRun, type Run } from '../support/model-run.ts';
import { type Step, story } from '../support/model-steps.ts';
import { take } from '../support/model-take.ts';
import { byTime, filtersFor } from '../support/model-views.ts';
import { settle } from '../support/model-workers.ts';
import { openParts } from '../support/parts.ts';
import { IS_DEEP, repeats, SEED } from '../support/seed.ts';

/** A response looks at so few entries in vain that short histories reach the bound. */
const { MOST } = vi.hoisted(() => {
  // The setup has loaded some of it.
  vi.resetModules();
  return { MOST: 7 };
});

vi.mock(import('../../src/feed/extent.ts'), async (original): Promise<Partial<typeof Extents>> => {
  const { Extent } = await original();
  class Short extends Extent {
    override get room(): number {
      return Math.max(1, MOST - this.looked);
    }
    override get isSpent(): boolean {
      return this.looked >= MOST;
    }
  }
  return { MAX_MISSED: MOST as typeof Extents.MAX_MISSED, Extent: Short };
});

const by = 'bob';
const PLACES = ['site', 'position', 'ann', 'cid', 'dan'];

function published(count: number, more: Partial<Extract<Step, { do: 'publish' }>> = {}): Step {
  return {
    ...{ do: 'publish', count, actor: 'ann', scope: 'PUBLIC', mentions: [], recipients: [], refs: ['site'] },
    ...{ conducted: 'now', type: 'Custom', text: 'posted', tags: ['red'] },
    ...more,
  };
}

const numbered = (from: number, to: number, step: (action: number) => Step): Step[] =>
  Array.from({ length: to - from }, (_, n) => step(from + n));

const follows: Step = { do: 'followMany', pairs: PLACES.map((ref) => ({ by, ref })) };

/** What makes a reader one of a kind, before anything else happens. */
const KINDS: Readonly<Record<string, readonly Step[]>> = {
  'of whom few of many entries get through': [
    follows,
    published(2, { actor: 'cid', conducted: 0 }),
    ...numbered(1, 5, (day) => published(8, { conducted: day })),
    published(6),
    published(1, { actor: 'dan', tags: ['blue'] }),
    { do: 'fanOut' },
    ...numbered(3, 35, (action): Step => ({ do: 'archiveItem', by, action })),
    { do: 'addMute', by, kind: 'TYPE', value: 'NewApplicant', hasEnd: false },
    { do: 'block', by, who: 'eve' },
  ],
  'who follows everything, in a burst, after what was conducted ahead of the clock': [
    follows,
    published(2, { actor: 'cid', conducted: 2, refs: ['position'] }),
    published(3, { actor: 'dan', conducted: 'soon', refs: [] }),
    { do: 'look', by: 'eve' },
    ...numbered(0, 4, (n) =>
      published(20, { actor: n % 2 === 0 ? 'ann' : 'cid', refs: [PLACES[n] ?? 'site'] }),
    ),
    { do: 'fanOut' },
  ],
  'who has some of everything': [
    follows,
    ...numbered(1, 5, (day) => published(4, { conducted: day, mentions: [by] })),
    published(4, { actor: 'cid', refs: ['position'] }),
    { do: 'fanOut' },
    { do: 'markRead', by, upTo: 6 },
    ...numbered(0, 4, (action): Step => ({ do: 'hideItem', by, action })),
    ...numbered(4, 8, (action): Step => ({ do: 'archiveItem', by, action })),
    ...numbered(8, 11, (action): Step => ({ do: 'snoozeItem', by, action })),
    ...numbered(9, 15, (action): Step => ({ do: 'markItemUnread', by, action })),
    { do: 'unfollow', by, ref: 'position', keepHistory: true, isSync: false },
    { do: 'follow', by, ref: 'position', copyLimit: 2 },
    { do: 'addMute', by, kind: 'PHRASE', value: 'went home', hasEnd: false },
    { do: 'addMute', by, kind: 'MEMBER', value: 'dan', hasEnd: false },
    { do: 'block', by, who: 'eve' },
    { do: 'putInList', by, list: 'near', ref: 'site' },
    { do: 'makeExclusive', by, list: 'near', isExclusive: true },
  ],
};

const SIZE = 8;

/** What of a list came short of what there is: pages that end early, and counts that say so. */
interface Short {
  pages: number;
  counts: number;
}

/** Every entry by its cursors, however short a page is. */
async function walked<T>(read: (args: PageArgs) => Promise<Page<T>>, short: Short): Promise<T[]> {
  const nodes: T[] = [];
  for (let after: string | null = null; ;) {
    const page: Page<T> = await read({ first: SIZE, after });
    nodes.push(...page.edges.map(({ node }) => node));
    if (!page.hasMore) return nodes;
    short.pages += page.edges.length < SIZE ? 1 : 0;
    expect(page.end).not.toBe(after);
    after = page.end;
  }
}

function isCount({ count, isExact }: Count, all: number, short: Short): boolean {
  if (!isExact) short.counts += 1;
  return isExact ? count === all : count <= all;
}

/** Expects every list of the reader to be what the definition says, and each count that says so. */
async function compare({ parts, model, ...run }: Run, short: Short): Promise<void> {
  const reader = run.reader(by);
  const session = parts.session(reader.userId, ...reader.roles);
  const numbers = new Map(model.actions.map(({ id }, n) => [id, n]));
  const isShown = async (name: string, list: readonly ModelItem[], asked: object): Promise<void> => {
    const items = await walked((args) => parts.services.readFeed(session, { ...args, ...asked }), short);
    const ids = items.map(({ actionId }) => numbers.get(actionId));
    expect([name, ids]).toEqual([name, list.map(({ action }) => numbers.get(action.id))]);
    const page = await parts.services.readFeed(session, {
      ...asked,
      first: SIZE,
      withUnread: true,
      withTotal: true,
    });
    const unread = list.filter((item) => item.isUnread).length;
    const counts = [await page.countTotal(), await page.countUnread()] as const;
    const areRight = isCount(counts[0], list.length, short) && isCount(counts[1], unread, short);
    expect({ name, counts, all: list.length, unread, areRight }).toMatchObject({ areRight: true });
  };
  const feed = feedFor(model, reader);
  await isShown('feed', feed, {});
  await isShown('by time', byTime(feed), { order: 'RECENT' });
  await isShown('archive', archiveFor(model, reader), { filter: { archived: true } });
  for (const { name, filter, passes } of filtersFor({ parts, model, ...run }, feed)) {
    // These are moments of another order.
    const isTimed = 'since' in filter || 'until' in filter;
    await isShown(name, feed.filter(passes), { filter });
    if (!isTimed) await isShown(`${name}, by time`, byTime(feed).filter(passes), { filter, order: 'RECENT' });
  }
  const badge = await parts.services.countUnread(session);
  expect(isCount(badge, feed.filter((item) => item.isUnread).length, short)).toBe(true);
  const groups = await walked((args) => parts.services.readFeedGroups(session, args), short);
  expect(new Set(groups.map(({ groupKey }) => groupKey)).size).toBe(groups.length);
  const best = await walked((args) => parts.services.readFeed(session, { ...args, order: 'TOP' }), short);
  const order = (ids: readonly string[]): readonly string[] => ids.toSorted();
  expect(order(best.map(({ actionId }) => actionId))).toEqual(order(feed.map(({ action }) => action.id)));
}

/** One beyond which feeds go on from the source, and one that none reaches. */
const CAPS = [5, 1_000];
const RUNS = repeats(1);

test.each(
  Object.entries(KINDS).map(([kind, steps], n) => ({
    ...{ kind, steps },
    ...{ model: FEED_MODEL_NAMES[(SEED + 2 * n) % FEED_MODEL_NAMES.length] ?? 'items', n },
  })),
)(
  'a reader $kind is shown the defined lists, in pages that may be short and counts that say so, with feeds stored by $model',
  async ({ model, steps, n }) => {
    const short: Short = { pages: 0, counts: 0 };
    for (const cap of CAPS) {
      await using parts = await openParts({ model, cap });
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(story, async (what) => {
          const run = openRun(parts, (runs += 1));
          try {
            for (const step of [...steps, ...what.steps.slice(0, IS_DEEP ? Infinity : 12)])
              if (step.do !== 'look') await take(run, step);
          } finally {
            await settle(run);
          }
          await compare(run, short);
        }),
        { numRuns: RUNS, seed: SEED + n, endOnFailure: true },
      );
    }
    // Of the others it depends on what happens.
    if (n === 0) expect(short.pages + short.counts).toBeGreaterThan(0);
  },
  600_000,
);
