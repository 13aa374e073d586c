import { expect, test } from 'vitest';
import { Closer } from '../../../src/lib/closer.ts';
import { fc } from '../../support/fast-check.ts';
import { openLiveList, type LiveList, type Listed } from '../../support/live-list.ts';
import { feedFor, type ModelReader } from '../../support/model.ts';
import type { Run } from '../../support/model-run.ts';
import { PEOPLE, REFS, story } from '../../support/model-steps.ts';
import { happens } from '../../support/model-story.ts';
import { openParts, type PartsOptions } from '../../support/parts.ts';
import { repeats, SEED } from '../../support/seed.ts';

const MODELS = ['items', 'capped', 'redis', 'time-buckets'];
const CASES: readonly (PartsOptions & { readonly name: string; readonly isPulled: boolean })[] = [
  ...MODELS.flatMap((model) =>
    [1_000, 3].map((cap) => ({
      ...{ name: `${model} with a cap of ${String(cap)}`, model, cap, isPulled: false },
    })),
  ),
  { name: 'items, pulled in part', pullRefreshMs: -1, isPulled: true },
  { name: 'capped, pulled in part', model: 'capped', cap: 3, pullRefreshMs: -1, isPulled: true },
];
const RUNS = repeats(2);

interface Watched {
  readonly reader: ModelReader;
  readonly isUnreadOnly: boolean;
  readonly list: LiveList;
}

/** Nobody has anything in their feed yet, and the store may know it. */
async function beginFeeds({ parts, model }: Run): Promise<void> {
  for (const { userId } of model.readers) {
    await parts.feedStore.fill(userId, []);
    await parts.feedStore.fill(userId, [], { isCompleteDownTo: null });
  }
}

/** Half of what can be followed has too many followers to be pushed. */
async function pullSome({ parts, id }: Run): Promise<void> {
  const pulled = [...REFS, ...PEOPLE].filter((_, n) => n % 2 === 0);
  await parts.database.collections.refs.insertMany(
    pulled.map((name) => ({
      _id: id(name),
      ...{ version: 0, followerCount: 0, isPulled: true, pullSince: new Date(0) },
    })),
  );
}

async function watchAll({ parts, model }: Run, closer: Closer): Promise<Watched[]> {
  const watched: Watched[] = [];
  for (const reader of model.readers)
    for (const isUnreadOnly of [false, true]) {
      const { identity } = parts.session(reader.userId, ...reader.roles);
      const options = isUnreadOnly ? { filter: { unreadOnly: true } } : {};
      watched.push({ reader, isUnreadOnly, list: closer.own(await openLiveList(parts, identity, options)) });
    }
  return watched;
}

function inWords({ actionId, relevancy, reasons }: Listed): string {
  const why = new Set(reasons.map((reason) => (reason === 'PULL' ? 'FOLLOW' : reason)));
  return `${actionId} at ${relevancy.toISOString()} for ${[...why].sort().join(' ')}`;
}

async function expectListsToBeFeeds({ model }: Run, watched: readonly Watched[]): Promise<void> {
  await Promise.all(watched.map(({ list }) => list.caughtUp()));
  for (const { reader, isUnreadOnly, list } of watched) {
    const feed = feedFor(model, reader).filter((item) => !isUnreadOnly || item.isUnread);
    expect({
      of: reader.userId,
      isUnreadOnly,
      items: [...list.shown.values()].map(inWords).sort(),
    }).toEqual({
      of: reader.userId,
      isUnreadOnly,
      items: feed
        .map(({ action, relevancy, reasons }) =>
          inWords({ actionId: action.id, relevancy: new Date(relevancy), reasons }),
        )
        .sort(),
    });
  }
}

test.each(CASES.map((one, n) => ({ ...one, n })))(
  'a client that applies the events shows the feed, whatever happened, where feeds are stored by $name',
  async ({ name: _name, n, isPulled, ...options }) => {
    await using parts = await openParts(options);
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(story, async (what) => {
        await using closer = new Closer();
        let watched: readonly Watched[] = [];
        await happens(parts, runs++, what, {
          async begin(run) {
            await (isPulled ? pullSome(run) : beginFeeds(run));
            watched = await watchAll(run, closer);
          },
          end: (run) => expectListsToBeFeeds(run, watched),
        });
      }),
      { numRuns: RUNS, seed: SEED + n },
    );
  },
  60 * 60_000,
);
