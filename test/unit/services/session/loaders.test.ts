import { expect, test } from 'vitest';
import type { Ref } from '../../../../src/domain/member.ts';
import type { Identity, ReaderProfile } from '../../../../src/domain/viewer.ts';
import type { KnownReader } from '../../../../src/feed/feed-store.ts';
import { createReaderSession, type SessionSources } from '../../../../src/feed/session/loaders.ts';
import type { ReaderSession } from '../../../../src/feed/session/reader-session.ts';

const identity: Identity = { userId: 'rita', roles: new Set(['user']), expiresAt: null };
const ref = (refId: string): Ref => ({ refId, type: 't', label: refId.toUpperCase(), followerCount: 0 });

/** Sources that know every ref but those that begin with x, in reverse order, and count the asking. */
function countingSources() {
  const asked: (readonly string[])[] = [];
  const rita = {
    userId: 'rita',
    name: 'Rita',
    teamId: null,
    teamSince: null,
    departmentId: null,
    departmentSince: null,
    supervisorId: null,
  };
  const sources: SessionSources = {
    findActions: () => Promise.resolve([]),
    findMembers: (ids) => {
      asked.push(ids);
      return Promise.resolve([]);
    },
    findRefs: (ids) => {
      asked.push(ids);
      return Promise.resolve(
        ids
          .filter((id) => !id.startsWith('x'))
          .map(ref)
          .reverse(),
      );
    },
    findMemberDetails: () => Promise.resolve([]),
    findRefDetails: () => Promise.resolve([]),
    findFollows: (userId, refIds) => {
      asked.push([userId, ...refIds]);
      return Promise.resolve([]);
    },
    findMarks: () => Promise.resolve([]),
    findBookmarks: () => Promise.resolve([]),
    findOwn: () => Promise.resolve([]),
    findInteractionPages: () => Promise.resolve([]),
    cachedAction: () => null,
    names: () => Promise.resolve(null),
    loadProfile: () => {
      asked.push(['profile']);
      const profile = { userId: 'rita', member: rita } as ReaderProfile;
      return Promise.resolve(profile);
    },
  };
  return { asked, sources };
}

test('loads all keys of one turn at once, and answers in order with null for missing ones', async () => {
  const { asked, sources } = countingSources();
  const { refs } = createReaderSession(sources, identity);
  const [a, x, b, again] = await Promise.all([
    refs.load('a'),
    refs.load('x'),
    refs.load('b'),
    refs.load('a'),
  ]);
  expect([a?.label, x, b?.label, again]).toEqual(['A', null, 'B', a]);
  expect(await refs.loadMany(['b', 'x'])).toEqual([b, null]);
  expect(asked).toEqual([['a', 'x', 'b']]);
});

test('loads at most 500 at a time', async () => {
  const { asked, sources } = countingSources();
  const { refs } = createReaderSession(sources, identity);
  await refs.loadMany(Array.from({ length: 1_001 }, (_, n) => `r${String(n)}`));
  expect(asked.map((ids) => ids.length)).toEqual([500, 500, 1]);
});

test('loads the profile once, and with it the reader as a member', async () => {
  const { asked, sources } = countingSources();
  const session = createReaderSession(sources, identity);
  const [first, second] = await Promise.all([session.profile(), session.profile()]);
  expect(first).toBe(second);
  expect((await session.members.load('rita'))?.name).toBe('Rita');
  expect(asked).toEqual([['profile']]);
});

/** A directory whose names change, each time with another stamp; a session knows what it reads when it reads it. */
function renamedWorld() {
  const { sources } = countingSources();
  let stamp = 1;
  const rita = () => ({
    ...{ userId: 'rita', name: `Rita ${String(stamp)}`, teamId: null, teamSince: null },
    ...{ departmentId: null, departmentSince: null, supervisorId: null },
  });
  const site = () => ({ ...ref('site'), label: `Site ${String(stamp)}` });
  const findMembers = () => Promise.resolve([rita()]);
  const reading: { goOn: () => void }[] = [];
  const world: SessionSources = {
    ...sources,
    findMembers,
    findRefs: () => Promise.resolve([site()]),
    names: (asOf) =>
      Promise.resolve({
        directory: { stamp: asOf, stampOf: () => asOf },
        findMembers,
        findRefNames: () => Promise.resolve([site()]),
      }),
    async loadProfile() {
      const profile = { userId: 'rita', member: rita() } as ReaderProfile;
      await new Promise<void>((resolve) => reading.push({ goOn: resolve }));
      return profile;
    },
  };
  const known = () => ({ directoryStamp: stamp, member: rita() }) as unknown as KnownReader;
  const rename = () => {
    stamp += 1;
  };
  const finishReading = () => {
    for (const { goOn } of reading.splice(0)) goOn();
  };
  return { session: createReaderSession(world, identity), known, rename, finishReading };
}

async function namesIn(session: ReaderSession): Promise<unknown[]> {
  const [member, found, name] = await Promise.all([
    session.members.load('rita'),
    session.refs.load('site'),
    session.refNames.load('site'),
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
  expect((await later.session.members.load('rita'))?.name).toBe('Rita 2');
});

test("loads the reader's own follows", async () => {
  const { asked, sources } = countingSources();
  expect(await createReaderSession(sources, identity).follows.load('r')).toBeNull();
  expect(asked).toEqual([['rita', 'r']]);
});

test('shares nothing between sessions', async () => {
  const { asked, sources } = countingSources();
  for (let n = 0; n < 2; n += 1) await createReaderSession(sources, identity).refs.load('a');
  expect(asked).toEqual([['a'], ['a']]);
});

test('passes a failure on to all callers', async () => {
  const { sources } = countingSources();
  const failing = { ...sources, findRefs: () => Promise.reject(new Error('Gone')) };
  const { refs } = createReaderSession(failing, identity);
  const results = await Promise.allSettled([refs.load('a'), refs.load('b')]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
