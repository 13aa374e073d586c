import { MongoServerSelectionError, type TopologyDescription } from 'mongodb';
import { expect, test } from 'vitest';
import type { Core } from '../../../../src/core/core.ts';
import type { Member, Ref } from '../../../../src/domain/member.ts';
import type { Identity } from '../../../../src/domain/viewer.ts';
import type { KnownReader } from '../../../../src/feed/feed-store.ts';
import { FOLLOW } from '../../../../src/feed/loads/own-follows.ts';
import { MEMBER, REF, refName } from '../../../../src/feed/loads/names.ts';
import { createEventSessions } from '../../../../src/feed/session/event-sessions.ts';
import { openSession } from '../../../../src/feed/session/open-session.ts';
import type { ReaderSession } from '../../../../src/feed/session/reader-session.ts';
import { sessionBatches } from '../../../../src/feed/session/session-batches.ts';
import type { LoadedFrom } from '../../../../src/feed/session/load.ts';

const identity: Identity = { userId: 'rita', roles: new Set(['user']), expiresAt: null };
const TOPOLOGY = {} as TopologyDescription;
const refNamed = (refId: string, label = refId.toUpperCase()): Ref => ({
  ...{ refId, type: 't', label, followerCount: 0 },
});
const rita = (name: string): Member => ({
  ...{ userId: 'rita', name, teamId: null, teamSince: null },
  ...{ departmentId: null, departmentSince: null, supervisorId: null },
});

/** Repositories that know every ref but those that begin with x, in reverse order, and count the asking. */
function countingWorld() {
  const asked: (readonly string[])[] = [];
  const world = {
    refs: {
      findByIds(ids: readonly string[]) {
        asked.push(ids);
        const known = ids.filter((id) => !id.startsWith('x'));
        return Promise.resolve(known.map((id) => refNamed(id)).reverse());
      },
    },
    members: {
      find() {
        asked.push(['member']);
        return Promise.resolve(rita('Rita'));
      },
      findByIds(ids: readonly string[]) {
        asked.push(ids);
        return Promise.resolve([]);
      },
    },
    follows: {
      findPairs(pairs: readonly { readonly followerId: string; readonly refId: string }[]) {
        asked.push(pairs.flatMap(({ followerId, refId }) => [followerId, refId]));
        return Promise.resolve([]);
      },
    },
    feeds: { marks: () => Promise.resolve({}) },
    pulledRefs: { known: () => Promise.resolve(new Set()) },
  };
  return { asked, repositories: world as unknown as LoadedFrom };
}

test('loads all ids of one turn at once, and answers in order with null for missing ones', async () => {
  const { asked, repositories } = countingWorld();
  const session = openSession(repositories, identity);
  const [a, x, b, again] = await Promise.all(['a', 'x', 'b', 'a'].map((id) => session.load(REF, id)));
  expect([a?.label, x, b?.label, again]).toEqual(['A', null, 'B', a]);
  expect(await session.loadMany(REF, ['b', 'x'])).toEqual([b, null]);
  expect(asked).toEqual([['a', 'x', 'b']]);
});

test('loads at most 500 at a time', async () => {
  const { asked, repositories } = countingWorld();
  const ids = Array.from({ length: 1_001 }, (_, n) => `r${String(n)}`);
  await openSession(repositories, identity).loadMany(REF, ids);
  expect(asked.map((some) => some.length)).toEqual([500, 500, 1]);
});

test('loads the profile once, and with it the reader as a member', async () => {
  const { asked, repositories } = countingWorld();
  const session = openSession(repositories, identity);
  const [first, second] = await Promise.all([session.profile(), session.profile()]);
  expect(first).toBe(second);
  expect((await session.load(MEMBER, 'rita'))?.name).toBe('Rita');
  expect(asked).toEqual([['member']]);
});

/** A directory whose names change, each time with another stamp; a session knows what it reads when it reads it. */
function renamedWorld() {
  let stamp = 1;
  const member = () => rita(`Rita ${String(stamp)}`);
  const findMembers = () => Promise.resolve([member()]);
  const findRefs = () => Promise.resolve([refNamed('site', `Site ${String(stamp)}`)]);
  const reading: { goOn: () => void }[] = [];
  const world = {
    ...countingWorld().repositories,
    refs: { findByIds: findRefs },
    members: { find: () => Promise.resolve(member()), findByIds: findMembers },
    nameCache: {
      asOf: (asOf: number) => Promise.resolve({ stamp: asOf, stampOf: () => asOf }),
      members: findMembers,
      refNames: findRefs,
    },
    pulledRefs: {
      async known() {
        await new Promise<void>((resolve) => reading.push({ goOn: resolve }));
        return new Set();
      },
    },
  };
  const known = () => ({ directoryStamp: stamp, member: member(), marks: {} }) as unknown as KnownReader;
  const rename = () => {
    stamp += 1;
  };
  const finishReading = () => {
    for (const { goOn } of reading.splice(0)) goOn();
  };
  const session = openSession(world as unknown as LoadedFrom, identity);
  return { session, known, rename, finishReading };
}

async function namesIn(session: ReaderSession): Promise<unknown[]> {
  const [member, found, name] = await Promise.all([
    session.load(MEMBER, 'rita'),
    session.load(REF, 'site'),
    refName(session, 'site'),
  ]);
  return [member?.name, found?.label, name?.label];
}

test('reads names again if the stamp was read later than they were', async () => {
  const { session, known, rename } = renamedWorld();
  expect(await namesIn(session)).toEqual(['Rita 1', 'Site 1', 'Site 1']);
  rename();
  session.know(known());
  expect(await namesIn(session)).toEqual(['Rita 2', 'Site 2', 'Site 2']);
  rename();
  session.know(known());
  expect(await namesIn(session)).toEqual(['Rita 3', 'Site 3', 'Site 3']);
});

test('never shows a profile that was read before the stamp', async () => {
  const { session, known, rename, finishReading } = renamedWorld();
  const profile = session.profile();
  rename();
  session.know(known());
  finishReading();
  expect((await profile).member?.name).toBe('Rita 1');
  expect(await namesIn(session)).toEqual(['Rita 2', 'Site 2', 'Site 2']);

  // The directory may be read later than what is known of the reader.
  const later = renamedWorld();
  later.session.know(later.known());
  later.rename();
  later.finishReading();
  await later.session.profile();
  expect((await later.session.load(MEMBER, 'rita'))?.name).toBe('Rita 2');
});

test("loads the reader's own follows", async () => {
  const { asked, repositories } = countingWorld();
  expect(await openSession(repositories, identity).load(FOLLOW, 'r')).toBeNull();
  expect(asked).toEqual([['rita', 'r']]);
});

test('shares nothing between sessions', async () => {
  const { asked, repositories } = countingWorld();
  for (let n = 0; n < 2; n += 1) await openSession(repositories, identity).load(REF, 'a');
  expect(asked).toEqual([['a'], ['a']]);
});

test('passes a failure of all on to all callers, and asks once', async () => {
  let asked = 0;
  const refs = {
    findByIds: () => Promise.reject(new MongoServerSelectionError(`Gone ${String(++asked)}`, TOPOLOGY)),
  };
  const session = openSession({ refs } as unknown as LoadedFrom, identity);
  const results = await Promise.allSettled([session.load(REF, 'a'), session.load(REF, 'b')]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(asked).toBe(1);
});

test('what cannot be loaded does not fail what is loaded with it, and is read again when it is asked for again', async () => {
  const broken = new Set(['b']);
  const refs = {
    findByIds: (ids: readonly string[]) =>
      ids.some((id) => broken.has(id))
        ? Promise.reject(new Error('No ref'))
        : Promise.resolve(ids.map((id) => refNamed(id))),
  };
  const world = { refs } as unknown as LoadedFrom;
  const { openEventSession } = createEventSessions(world, () => Promise.reject(new Error('Not read')));
  for (const session of [openSession(world, identity), openEventSession(identity)]) {
    broken.add('b');
    const results = await Promise.allSettled(['a', 'b', 'c'].map((id) => session.load(REF, id)));
    expect(
      results.map((one) => (one.status === 'fulfilled' ? one.value?.label : String(one.reason))),
    ).toEqual(['A', 'Error: No ref', 'C']);
  }
  const session = openSession(world, identity);
  await expect(session.load(REF, 'b')).rejects.toThrow('No ref');
  broken.clear();
  expect((await session.load(REF, 'b'))?.label).toBe('B');
});

test('a key of a batch that fails does not fail the others, and equal keys are one', async () => {
  const asked: (readonly string[])[] = [];
  const load = sessionBatches<string, string>(
    (_core, _session, keys) => {
      asked.push(keys);
      return keys.includes('b')
        ? Promise.reject(new Error('No b'))
        : Promise.resolve(keys.map((key) => `${key}!`));
    },
    (key) => key,
  );
  const { repositories } = countingWorld();
  const session = openSession(repositories, identity);
  const ask = (key: string): Promise<string> => load(repositories as Core, session, key);
  const results = await Promise.allSettled(['a', 'a', 'b'].map(ask));
  expect(results.map((one) => (one.status === 'fulfilled' ? one.value : null))).toEqual(['a!', 'a!', null]);
  expect(await ask('a')).toBe('a!');
  expect(asked).toEqual([['a', 'b'], ['a'], ['b'], ['a']]);
});
