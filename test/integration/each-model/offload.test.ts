import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkOffloadFile } from '../../../parts/archive/src/offload-file.ts';
import { runOffload, runRestore, type OffloadOutcome } from '../../../parts/archive/src/run-offload.ts';
import { MemoryWorkSignal } from '../../../src/live/work-signal.ts';
import { archiveOf, offloadsRepository, type Archive } from '../../../parts/archive/src/store/offloads.ts';
import { renames } from '../../../src/features/directory/jobs/renames.ts';
import { Crash, crashingCollections } from '../../support/crashing.ts';
import { runnerOf } from '../../support/jobs.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { someModels } from '../../support/some-models.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fanfare-offload-'));
});
afterAll(() => rm(folder, { recursive: true }));

const day = (n: number): Date => new Date(Date.UTC(2024, 0, n));
/** Between what is old and what stays. */
const BEFORE = day(10);
const newFile = (ending = ''): string => join(folder, `${crypto.randomUUID()}.ndjson${ending}`);

function run({ core }: Pick<Parts, 'core'>, path: string) {
  return { core: archiveOf(core), path, now: () => new Date(), onProgress: () => undefined };
}

/** The core with other steps of an offload. */
function withOffloads({ core }: Parts, steps: Partial<Archive['offloads']>): Archive {
  const archive = archiveOf(core);
  return { ...archive, offloads: { ...archive.offloads, ...steps } };
}

/** Takes out, with a worker that withdraws. */
async function takeOut(parts: Parts, path: string, before = BEFORE): Promise<OffloadOutcome> {
  await using worker = parts.worker();
  worker.start();
  return await runOffload(run(parts, path), { before, graceMs: 0 });
}

async function bringBack(parts: Parts, path: string) {
  const outcome = await runRestore(run(parts, path));
  await parts.fanOut();
  return outcome;
}

interface World {
  /** Oldest first; those of the first five days go. */
  readonly ids: readonly string[];
}

/** Everything that can belong to an action, on what is old and on what stays. */
async function makeWorld({ services, publish, session, service, fanOut }: Parts): Promise<World> {
  await services.upsertMembers(service, [
    { memberId: 'actor', name: 'Ada Actor' },
    { memberId: 'ann', name: 'Ann Reader' },
    { memberId: 'bob', name: 'Bob Friend' },
  ]);
  await services.followMany(service, [
    { followerId: 'ann', refId: 'actor' },
    { followerId: 'ann', refId: 'bob' },
    { followerId: 'carl', refId: 'site' },
    { followerId: 'fan', refId: 'bob' },
  ]);
  const ids: string[] = [];
  for (let n = 0; n < 8; n += 1) {
    const { action } = await publish({
      conducted: day(n < 5 ? n + 1 : n + 15),
      scope: 'PUBLIC',
      mentions: n % 2 === 0 ? ['ann', 'dave'] : [],
      refs: [{ id: 'site', type: 'site', label: 'Site' }],
      ...(n === 2 ? {} : { idempotencyKey: `key-${String(n)}` }),
    });
    ids.push(action.id);
  }
  const admin = session('admin', 'admin');
  for (const n of [0, 6]) {
    const [actionId = '', at] = [ids[n], day(n < 5 ? n + 2 : n + 16)];
    for (const interaction of [
      { kind: 'COMMENT', text: 'Well done', idempotencyKey: 'c' },
      { kind: 'LIKE' },
      { kind: 'RESHARE' },
      { kind: 'REACTION', reaction: '🎉' },
    ] as const)
      await services.addInteraction(session('bob', 'admin'), { actionId, at, ...interaction });
    await services.removeInteraction(session('bob'), { own: { actionId, kind: 'LIKE' } });
    await services.bookmark(session('ann'), actionId);
    await services.pinAction(admin, 'site', actionId);
    await services.markItemsUnread(session('dave'), [actionId]);
  }
  const [, one = '', two = '', three = '', four = ''] = ids;
  await services.archiveFeedItem(session('ann'), one);
  await services.snoozeFeedItem(session('carl'), two, new Date(Date.now() + 86_400_000));
  await services.hideFeedItem(session('ann'), three);
  await services.hideAction(admin, four, 'off topic');
  await fanOut();
  return { ids };
}

/** What readers see, and what is stored of the actions but for how often they were delivered. */
async function seen(parts: Parts) {
  const { services, session, feedOf } = parts;
  const { actions, interactions, itemMarks, bookmarks, moderationLog, refs } = parts.database.collections;
  const readers = ['ann', 'bob', 'carl', 'dave', 'fan'];
  const edgesOf = ({ edges }: { edges: readonly { node: { id: string } }[] }) =>
    edges.map(({ node }) => node.id);
  const listed = async (userId: string, filter: object) =>
    (await services.readFeed(session(userId), { filter })).edges.map(({ node }) => node.actionId);
  return {
    feeds: await Promise.all(
      readers.map(async (userId) => [
        userId,
        await feedOf(userId),
        await services.countUnread(session(userId)),
      ]),
    ),
    relevancies: (await services.readFeed(session('ann'), { first: 50 })).edges.map(
      ({ node }) => node.relevancy,
    ),
    archived: await listed('ann', { archived: true }),
    snoozed: await listed('carl', { snoozed: true }),
    bookmarks: edgesOf(await services.readBookmarks(session('ann'), {})),
    hidden: edgesOf(await services.readHiddenItems(session('ann'), {})),
    slice: edgesOf(await services.readSlice(session('carl'), 'site', {})),
    pinned: (await refs.findOne({ _id: 'site' }))?.pinned?.map(String).sort(),
    actions: (await actions.find({ isDeleted: false }).sort({ _id: 1 }).toArray()).map(
      ({ rev: _rev, fanOut, ...rest }) => ({
        ...rest,
        fanOut: { state: fanOut.state, delivered: fanOut.delivered },
      }),
    ),
    stored: await Promise.all(
      [interactions, itemMarks, bookmarks, moderationLog].map((collection) =>
        (collection as typeof interactions).find().sort({ _id: 1 }).toArray(),
      ),
    ),
  };
}

describe.each(someModels(1))('with the feed model %s', (model) => {
  test('offloaded actions are gone for everybody, and come back exactly as they were', async () => {
    await using parts = await openParts({ model, cap: 5 });
    const { ids } = await makeWorld(parts);
    const old = ids.slice(0, 5);
    const before = await seen(parts);
    const path = newFile('.gz');
    expect(await takeOut(parts, path)).toEqual({ written: 5, taken: 5, earlier: 0, left: 0, failed: 0 });

    const without = await seen(parts);
    expect(without.feeds.map(([, feed]) => feed)).toEqual(
      before.feeds.map(([, feed]) => (feed as string[]).filter((id) => !old.includes(id))),
    );
    expect(JSON.stringify(without)).not.toMatch(new RegExp(old.join('|')));
    expect(without.feeds[0]).toEqual(['ann', ids.slice(5).reverse(), { count: 3, isExact: true }]);
    const { actions } = parts.database.collections;
    // What has a key leaves its tombstone: a repetition publishes nothing.
    expect(await actions.countDocuments({ isDeleted: true })).toBe(4);
    await expect(parts.publish({ idempotencyKey: 'key-0' })).rejects.toMatchObject({ code: 'CONFLICT' });

    expect(await bringBack(parts, path)).toEqual({ returned: 5, skipped: 0 });
    expect(await seen(parts)).toEqual(before);
    // Once more, it changes nothing, whatever has happened since.
    await parts.services.addInteraction(parts.session('ann'), { actionId: old[0] ?? '', kind: 'LIKE' });
    await parts.fanOut();
    const liked = await seen(parts);
    expect(await bringBack(parts, path)).toEqual({ returned: 0, skipped: 5 });
    expect(await seen(parts)).toEqual(liked);
  });
});

/** What repeating the publications and a comment of the world answers. */
async function replayed({ services, publish, session }: Parts, { ids }: World): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const n of ids.keys()) {
    if (n === 2) continue;
    const again = publish({ idempotencyKey: `key-${String(n)}` });
    answers.push(
      await again.then(
        ({ action, isReplay }) => [action.id, isReplay],
        (error: unknown) => (error instanceof Error ? error.message : error),
      ),
    );
  }
  const comment = { kind: 'COMMENT', text: 'Well done', idempotencyKey: 'c' } as const;
  for (const n of [0, 6]) {
    const input = { actionId: ids[n] ?? '', ...comment };
    answers.push((await services.addInteraction(session('bob'), input)).interaction.id);
  }
  return answers;
}

test('actions restored into another database behave as before, repeated keys included', async () => {
  await using from = await openParts();
  const world = await makeWorld(from);
  await from.services.upsertRefs(from.service, [{ id: 'site', type: 'site', label: 'Old' }]);
  await from.services.upsertRefs(from.service, [{ id: 'site', type: 'site', label: 'Site' }]);
  const { actions } = from.database.collections;
  const pulled = new ObjectId(world.ids[1]);
  await actions.updateOne({ _id: pulled }, { $set: { pullRefIds: ['site'] } });
  const answers = await replayed(from, world);
  await from.idle();
  const before = await seen(from);

  await using to = await openParts();
  for (const name of ['members', 'follows', 'readerStamps'] as const) {
    const [source, target] = [from, to].map(
      ({ database }) => database.collections[name] as unknown as typeof actions,
    );
    const documents = (await source?.find().toArray()) ?? [];
    if (documents.length > 0) await target?.insertMany(documents);
  }
  // It has this name, too, by fewer changes.
  await to.services.upsertRefs(to.service, [{ id: 'site', type: 'site', label: 'Place' }]);
  const path = newFile();
  expect(await takeOut(from, path, day(40))).toMatchObject({ taken: 8 });
  expect(await bringBack(to, path)).toEqual({ returned: 8, skipped: 0 });
  await using renamer = runnerOf(renames, to.core, { every: 50 });
  renamer.start();
  const labels = async (): Promise<unknown[]> =>
    (await to.database.collections.actions.distinct('refs.label')) as unknown[];
  await expect.poll(labels, { timeout: PATIENCE_MS }).toEqual(['Place']);
  const after = await seen(to);
  const plain = (documents: readonly { readonly _id: ObjectId }[]) =>
    documents.map(({ _id, ...rest }) => [
      _id,
      { ...rest, pullRefIds: undefined, names: undefined, refs: undefined },
    ]);
  expect({ ...after, actions: plain(after.actions) }).toEqual({ ...before, actions: plain(before.actions) });
  expect(await replayed(to, world)).toEqual(answers);
  expect(await seen(to)).toEqual(after);
});

describe('actions that change during an offload', () => {
  test.each([
    [
      'a comment',
      (parts: Parts, id: string) =>
        parts.services.addInteraction(parts.session('bob'), { actionId: id, kind: 'COMMENT', text: 'wait' }),
    ],
    ['a bookmark', (parts: Parts, id: string) => parts.services.bookmark(parts.session('ann'), id)],
    [
      'an archived item',
      (parts: Parts, id: string) => parts.services.archiveFeedItem(parts.session('ann'), id),
    ],
    [
      'a pin',
      (parts: Parts, id: string) => parts.services.pinAction(parts.session('admin', 'admin'), 'site', id),
    ],
    [
      'an edit',
      (parts: Parts, id: string) =>
        parts.services.updateAction(parts.session('actor'), id, { mentions: ['zoe'] }),
    ],
  ])('%s: the action stays', async (_what, change) => {
    await using parts = await openParts();
    const ids = [];
    for (const n of [1, 2])
      ids.push(
        (
          await parts.publish({
            ...{ conducted: day(n), scope: 'PUBLIC', mentions: ['ann'] },
            refs: [{ id: 'site', type: 'site', label: 'Site' }],
          })
        ).action.id,
      );
    await parts.fanOut();
    const [changed = '', other = ''] = ids;
    const path = newFile();
    await using worker = parts.worker();
    worker.start();
    const core = withOffloads(parts, {
      async claim(...args) {
        // The file is there, and nothing has been claimed.
        await change(parts, changed);
        await archiveOf(parts.core).offloads.claim(...args);
      },
    });
    expect(await runOffload({ ...run(parts, path), core }, { before: BEFORE, graceMs: 0 })).toMatchObject({
      ...{ written: 2, taken: 1, left: 1 },
    });
    await parts.idle();
    const stored = await parts.database.collections.actions.find({ isDeleted: false }).toArray();
    expect(stored.map(({ _id, offload }) => [_id.toHexString(), offload])).toEqual([[changed, undefined]]);
    expect(await parts.feedOf('ann')).not.toContain(other);
  });
});

describe('a kill', () => {
  /** The core of a process that dies after so many writes. */
  function dying({ database, core }: Parts, writes: number): Archive {
    const offloads = offloadsRepository(crashingCollections(database.collections, writes), core.declarations);
    return { ...core, offloads, workSignal: new MemoryWorkSignal() };
  }

  test('at any write of offload or restore loses nothing and repeats nothing', async () => {
    await using parts = await openParts();
    await makeWorld(parts);
    const before = await seen(parts);
    let deaths = 0;
    for (const writes of [0, 1, 2, 3, 5, 7, 10]) {
      const path = newFile();
      await using worker = parts.worker();
      worker.start();
      const dead = { ...run(parts, path), core: dying(parts, writes) };
      const died = (work: Promise<unknown>) =>
        work.then(
          () => false,
          (error: unknown) => {
            if (!(error instanceof Crash)) throw error;
            return true;
          },
        );
      if (await died(runOffload(dead, { before: BEFORE, graceMs: 0 }))) deaths += 1;
      // Where it did not come to the end, restoring is refused; it goes on with the same file.
      const { written, taken, earlier, left } = await runOffload(run(parts, path), {
        ...{ before: BEFORE, graceMs: 0 },
      });
      expect({ written, moved: taken + earlier, left }).toEqual({ written: 5, moved: 5, left: 0 });
      expect((await seen(parts)).actions).toHaveLength(3);
      if (await died(runRestore({ ...run(parts, path), core: dying(parts, writes) }))) deaths += 1;
      await runRestore(run(parts, path));
      await worker.stop();
      await parts.fanOut();
      expect(await seen(parts)).toEqual(before);
    }
    expect(deaths).toBeGreaterThan(8);
  });

  test('while the file is written leaves no file, and everything where it was', async () => {
    await using parts = await openParts();
    await makeWorld(parts);
    const before = await seen(parts);
    const path = newFile();
    const core = withOffloads(parts, { readBatch: () => Promise.reject(new Crash('dead')) });
    await expect(runOffload({ ...run(parts, path), core }, { before: BEFORE })).rejects.toThrow(Crash);
    await expect(readFile(path)).rejects.toThrow('ENOENT');
    expect(await seen(parts)).toEqual(before);
  });
});

describe('a file', () => {
  test('that is damaged, incomplete or of another kind is rejected before anything is restored', async () => {
    await using parts = await openParts();
    await makeWorld(parts);
    const path = newFile();
    await takeOut(parts, path);
    const text = await readFile(path, 'utf8');
    const lines = text.trimEnd().split('\n');
    const without = await seen(parts);
    const faults: [string, string, RegExp][] = [
      ['empty', '', /it is empty/],
      ['something else', '{"actorId":"a"}\n', /does not start like such a file/],
      ['cut off', `${lines.slice(0, -1).join('\n')}\n`, /its end is missing/],
      ['cut off in a line', text.slice(0, text.length / 2), /its end is missing/],
      ['changed', text.replace('Well done', 'Well, no.'), /its checksum is wrong/],
      ['a line less', lines.filter((_, n) => n !== 3).join('\n'), /its number of lines differs/],
      ['more behind the end', `${text}{}\n`, /follows its end/],
      ['of a later format', text.replace('"format":1', '"format":2'), /does not start like such a file/],
    ];
    for (const [, content, message] of faults) {
      const odd = newFile();
      await writeFile(odd, content);
      await expect(runRestore(run(parts, odd))).rejects.toThrow(message);
    }
    const cut = newFile('.gz');
    await writeFile(cut, Buffer.from([0x1f, 0x8b, 8, 0, 0]));
    await expect(checkOffloadFile(cut)).rejects.toThrow(/damaged/);
    expect(await seen(parts)).toEqual(without);
    await expect(runRestore(run(parts, newFile()))).rejects.toThrow(/cannot be read: ENOENT/);
    // A file that is there is not written over, and goes on with its own time alone.
    await expect(runOffload(run(parts, path), { before: day(3), graceMs: 0 })).rejects.toThrow(
      /already exists/,
    );
  });

  test('is gzip if its name says so, and readable only by its owner', async () => {
    await using parts = await openParts();
    await makeWorld(parts);
    const path = newFile('.gz');
    await takeOut(parts, path);
    expect(gunzipSync(await readFile(path)).toString()).toContain('Well done');
    expect((await checkOffloadFile(path)).actions).toBe(5);
  });

  test('is not written for a future time', async () => {
    await using parts = await openParts();
    await makeWorld(parts);
    const path = newFile();
    const tomorrow = new Date(Date.now() + 86_400_000);
    await expect(takeOut(parts, path, tomorrow)).rejects.toThrow(
      `${tomorrow.toISOString()} is in the future`,
    );
    await expect(readFile(path)).rejects.toThrow('ENOENT');
    expect(await parts.database.collections.actions.countDocuments({ offload: { $exists: true } })).toBe(0);
  });

  test('continues when repeated after no worker did the withdrawals', async () => {
    await using parts = await openParts();
    await makeWorld(parts);
    const path = newFile();
    const missing = new Error('No worker came');
    const waiting = { ...run(parts, path), onWaiting: () => Promise.reject(missing) };
    await expect(runOffload(waiting, { before: BEFORE, graceMs: 0 })).rejects.toBe(missing);
    expect(await takeOut(parts, path)).toEqual({ written: 5, taken: 5, earlier: 0, left: 0, failed: 0 });
    expect(
      await parts.database.collections.actions.countDocuments({
        conducted: { $lt: BEFORE },
        isDeleted: false,
      }),
    ).toBe(0);
  });

  test('reports when repeated what an earlier run has moved, and what has changed and stays', async () => {
    await using parts = await openParts();
    const { ids } = await makeWorld(parts);
    const path = newFile();
    await using worker = parts.worker();
    worker.start();
    const core = withOffloads(parts, {
      async claim(...args) {
        await parts.services.updateAction(parts.session('actor'), ids[0] ?? '', { mentions: ['zoe'] });
        await archiveOf(parts.core).offloads.claim(...args);
      },
    });
    const first = await runOffload({ ...run(parts, path), core }, { before: BEFORE, graceMs: 0 });
    expect(first).toEqual({ written: 5, taken: 4, earlier: 0, left: 1, failed: 0 });
    // Some have left a tombstone, and of one nothing is left.
    const again = await runOffload(run(parts, path), { before: BEFORE, graceMs: 0 });
    expect(again).toEqual({ written: 5, taken: 0, earlier: 4, left: 1, failed: 0 });
  });

  test('is not created if nothing is to be offloaded', async () => {
    await using parts = await openParts();
    const path = newFile();
    expect(await takeOut(parts, path)).toMatchObject({ written: 0 });
    await expect(readFile(path)).rejects.toThrow('ENOENT');
  });

  test('that was not completely offloaded is not restored', async () => {
    await using parts = await openParts();
    await makeWorld(parts);
    const path = newFile();
    const core = withOffloads(parts, { sums: () => Promise.reject(new Crash('dead')) });
    await expect(runOffload({ ...run(parts, path), core }, { before: BEFORE, graceMs: 0 })).rejects.toThrow(
      Crash,
    );
    await expect(runRestore(run(parts, path))).rejects.toMatchObject({ code: 'CONFLICT' });
    await takeOut(parts, path);
    expect(await bringBack(parts, path)).toMatchObject({ returned: 5 });
  });

  test('of an older schema is migrated', async () => {
    await using parts = await openParts();
    const { ids } = await makeWorld(parts);
    const path = newFile();
    await takeOut(parts, path);
    const { header, ...checked } = await checkOffloadFile(path);
    const newer = { ...checked, header: { ...header, schema: 99 } };
    await expect(runRestore(run(parts, path), newer)).rejects.toThrow(/Another version wrote it/);
    const older = newFile();
    await copyFile(path, older);
    const old = { ...checked, header: { ...header, schema: 0 } };
    expect(await runRestore(run(parts, older), old)).toMatchObject({ returned: 5 });
    await parts.fanOut();
    expect(await parts.feedOf('ann')).toContain(ids[0]);
  });
});

test('a member erased since then comes back as a former member', async () => {
  await using parts = await openParts();
  const { ids } = await makeWorld(parts);
  const path = newFile();
  await takeOut(parts, path);
  for (const memberId of ['bob', 'dave', 'actor']) await parts.services.eraseMember(parts.admin, memberId);
  // A new person under the same id has nothing to do with it.
  await parts.services.upsertMembers(parts.service, [{ memberId: 'dave', name: 'Another Dave' }]);
  await bringBack(parts, path);
  const { actions, interactions, itemMarks, moderationLog } = parts.database.collections;
  const stored = JSON.stringify(
    await Promise.all([
      actions.find().toArray(),
      interactions.find().toArray(),
      itemMarks.find().toArray(),
      moderationLog.find().toArray(),
    ]),
  );
  for (const trace of ['"bob"', '"dave"', '"actor"', 'user:dave', 'Ada Actor', 'Bob Friend', 'Well done'])
    expect(stored).not.toContain(trace);
  expect(await parts.feedOf('dave')).toEqual([]);
  // All they did in one file is by one pseudonym, and counts as before.
  const own = await interactions.find({ actionId: new ObjectId(ids[0]) }).toArray();
  expect(new Set(own.map(({ actorId }) => actorId)).size).toBe(1);
  const action = await parts.services.getAction(parts.session('ann'), ids[0] ?? '');
  expect(action).toMatchObject({ engagement: { comments: 1, reshares: 1 } });
  expect(action?.actorId).toMatch(/^erased:[0-9a-f]{24}$/);
});

test('people and things renamed meanwhile have their new names when restored', async () => {
  await using parts = await openParts();
  await makeWorld(parts);
  const path = newFile();
  await takeOut(parts, path);
  await parts.services.upsertRefs(parts.service, [{ id: 'site', type: 'site', label: 'New Site' }]);
  await bringBack(parts, path);
  await using renamer = runnerOf(renames, parts.core, { every: 50 });
  renamer.start();
  await expect
    .poll(() => parts.database.collections.actions.countDocuments({ 'refs.label': 'Site' }), {
      timeout: PATIENCE_MS,
    })
    .toBe(0);
});
