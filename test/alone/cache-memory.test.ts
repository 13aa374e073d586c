import { getHeapCodeStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BSON, ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { PartCache } from '../../src/http/execution/shared-parts/part-cache.ts';
import { namedIn } from '../../src/features/actions/api/action.ts';
import { SharedText } from '../../src/graphql/rendering/answer.ts';
import { ActionCache } from '../../src/storage/actions/action-cache.ts';
import { toStoredAction } from '../../src/storage/actions/action-document.ts';
import { DirectoryStamp } from '../../src/storage/stamps/directory-stamps.ts';
import type { ActionDocument } from '../../src/storage/documents/documents.ts';
import { toMember } from '../../src/storage/documents/member-document.ts';
import { NameCache } from '../../src/features/directory/store/name-cache.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const LIMIT = 2 ** 21;
/** More than fit several times over. */
const COUNT = 2_500;
const TEXTS = {
  'short texts': 'x',
  'texts of one byte a character': 'Grüße von é, '.repeat(20),
  'Cyrillic texts': 'Привет, мир. '.repeat(20),
  'texts with emoji': '🎉 Party '.repeat(100),
};

/** As the database gives it: decoded. */
function decoded<T extends object>(document: T): T {
  return BSON.deserialize(BSON.serialize(document)) as T;
}

function documentOf(n: number, text: string): ActionDocument {
  const at = new Date(1_700_000_000_000 + n);
  const [site, thing, member] = ['site', 'thing', 'member'].map((kind) => `${kind}-${String(n)}`);
  return decoded({
    ...{ _id: new ObjectId(), rev: -(2 ** 40) - n, actorId: member, conducted: at, recorded: at, latest: at },
    ...{ scope: 'PUBLIC', audience: ['public'], mentions: [], recipients: [], refIds: [site, thing, member] },
    refs: [
      { id: site, type: 'site', label: text.slice(0, 20) },
      { id: thing, type: 'thing', label: 'Thing' },
    ],
    descriptor: {
      ...{ type: 'ApplicationRating', raterId: member, raterName: 'Rater', applicantId: thing },
      ...{ applicantName: 'Mary', positionId: site, positionName: 'Site', ratingScore: 4.5 },
      ...{ ratingText: `${text} ${String(n)}`, tags: ['a', 'b'] },
    },
    ...{
      isHidden: false,
      isDeleted: false,
      pullRefIds: [],
      reshares: [],
      isBumped: false,
      commentsVersion: 0,
    },
    engagement: { comments: 1, likes: 2, reshares: 0, lastInteraction: null, reactions: {} },
    fanOut: { state: 'DONE', version: 1, attempts: 1, lane: 'LIVE', delivered: 10, error: null },
  }) as object as ActionDocument;
}

/** Every bucket has a stamp, and no two have the same. */
const stampOf = (seed: number) =>
  new DirectoryStamp(seed, Object.fromEntries(Array.from({ length: 256 }, (_, n) => [String(n), seed + n])));

const CACHES = {
  async actions(text: string) {
    const findByIds = (ids: readonly string[]) =>
      Promise.resolve(ids.map((id) => toStoredAction(documentOf(Number(id), text))));
    const findUnlessCached = async (ids: readonly string[]) => ({
      ...{ changed: await findByIds(ids), unchanged: [] },
    });
    const cache = new ActionCache({ findByIds, findUnlessCached }, LIMIT);
    for (let n = 0; n < COUNT; n += 2) await cache.findByIds([String(n), String(n + 1)]);
    return cache;
  },

  async names(text: string) {
    const name = (id: string) => `${text.slice(0, 60)} ${id}`;
    const directory = stampOf(1);
    const cache = new NameCache(
      {
        directoryStamps: { read: () => Promise.resolve(directory) },
        refs: {
          namesOf: (ids) =>
            Promise.resolve(ids.map((refId) => decoded({ refId, type: 'site', label: name(refId) }))),
        },
        members: {
          findByIds: (ids) =>
            Promise.resolve(
              ids.map((_id) =>
                toMember(
                  decoded({
                    ...{ _id, name: name(_id), teamId: `team-${_id}`, teamSince: new Date(0) },
                    ...{ departmentId: 'd', departmentSince: new Date(0), supervisorId: null },
                  }),
                ),
              ),
            ),
        },
      },
      LIMIT,
    );
    for (let n = 0; n < COUNT; n++) {
      await cache.members(directory, [`member-${String(n)}`]);
      await cache.refNames(directory, [`site-${String(n)}`]);
    }
    return cache;
  },

  parts(text: string) {
    const cache = new PartCache(LIMIT);
    for (let n = 0; n < COUNT; n++) {
      const action = toStoredAction(documentOf(n, text));
      const { descriptor, refs } = action;
      const written = JSON.stringify({ descriptor, summary: `${text} of ${String(n)}`, refs });
      // Somebody is renamed all the time.
      const rendered = { version: action.rev, ids: namedIn(action) };
      cache.put(`1:en::${action.id}`, rendered, stampOf(n), new SharedText(written.slice(1, -1)));
    }
    return Promise.resolve(cache);
  },
} as const satisfies Readonly<Record<string, (text: string) => Promise<object>>>;

async function inUse(): Promise<number> {
  for (let turn = 0; turn < 3; turn++) {
    collect();
    await new Promise(setImmediate);
  }
  const { heapUsed, external } = process.memoryUsage();
  // Functions are compiled when they have run often.
  const { code_and_metadata_size: code, bytecode_and_metadata_size: bytecode } = getHeapCodeStatistics();
  return heapUsed + external - code - bytecode;
}

/** A function of its own: nothing of one cache is there any more when the next is filled. */
async function grownBy(fill: () => Promise<object>): Promise<number> {
  const before = await inUse();
  const filled = await fill();
  const grown = (await inUse()) - before;
  expect(filled).toBeDefined();
  return grown;
}

for (const [what, fill] of Object.entries(CACHES))
  test(`all ${what} in the memory of a process stay within its limit`, async () => {
    // Code and what else is made once.
    await grownBy(() => fill('x'));
    for (const [texts, text] of Object.entries(TEXTS)) {
      const grown = await grownBy(() => fill(text));
      expect(grown, texts).toBeLessThanOrEqual(LIMIT);
      // It does hold something.
      expect(grown, texts).toBeGreaterThan(LIMIT / 10);
    }
  });
