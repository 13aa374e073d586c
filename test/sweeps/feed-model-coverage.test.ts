import { expect, test } from 'vitest';
import { raiseFloors, trimDue } from '../../src/feed/trim-feeds.ts';
import { PEOPLE, REFS, story } from '../support/model-steps.ts';
import { happens, type StoryOptions } from '../support/model-story.ts';
import type { Run } from '../support/model-run.ts';
import { openParts, type PartsOptions } from '../support/parts.ts';
import { repeats } from '../support/seed.ts';
import { fc } from '../support/fast-check.ts';

const RUNS = repeats(2);
const CAP = 3;
const LATER_MS = 600_000;

/** Stored feeds are cut to their cap, as it would happen in the course of time. */
async function cutFeeds({ parts, model }: Run): Promise<void> {
  const cut = { ...parts.core, cap: CAP };
  const readers = model.readers.map((reader) => reader.userId);
  await raiseFloors(cut, readers, () => 0);
  while ((await trimDue(cut, new Date(Date.now() + LATER_MS))) > 0);
  for (const userId of readers)
    expect((await parts.feedStore.page({ userId, limit: 100 })).entries.length).toBeLessThanOrEqual(CAP + 1);
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

test.concurrent.each<[string, PartsOptions, StoryOptions]>([
  ['are cut to a few entries', { cap: CAP }, { end: cutFeeds }],
  ['are pulled in part', { pullRefreshMs: -1 }, { begin: pullSome }],
  ['are skipped whenever their readers look away', { dormantAfterMs: 1 }, {}],
  ['are all of that', { cap: CAP, pullRefreshMs: -1, dormantAfterMs: 1 }, { begin: pullSome, end: cutFeeds }],
])(
  'shows every reader the defined feed if feeds %s',
  async (_name, partsOptions, storyOptions) => {
    await using parts = await openParts(partsOptions);
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(story, (what) => happens(parts, runs++, what, storyOptions)),
      { numRuns: RUNS },
    );
  },
  60 * 60_000,
);
