import { expect, test } from 'vitest';
import { leased } from '../../../src/storage/database/lease.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const LEASE_MS = 30_000;
const NOW = new Date();
const later = (ms: number): Date => new Date(NOW.getTime() + ms);
const by = (token: string, now = NOW) => ({ token, now, leaseMs: LEASE_MS });

/** Refs of which as many have a name to carry, the first one for longest. */
async function withDue(parts: Parts, count: number) {
  const { refs } = parts.database.collections;
  await refs.insertMany(
    Array.from({ length: count }, (_, n) => ({
      ...{ _id: `r${String(n)}`, followerCount: 0, version: 1 },
      rename: { due: later(n - count) },
    })),
  );
  return leased(refs, 'rename');
}

test('work is claimed in the order in which it became due, and again only after its lease', async () => {
  await using parts = await openParts();
  const leases = await withDue(parts, 2);
  expect(await leases.claim(by('a'))).toMatchObject({
    ...{ isOnly: false, document: { _id: 'r0', rename: { owner: 'a', attempts: 1, due: later(LEASE_MS) } } },
  });
  expect(await leases.claim(by('b'))).toMatchObject({ isOnly: true, document: { _id: 'r1' } });
  expect(await leases.claim(by('c', later(LEASE_MS - 1)))).toBeNull();
  expect(await leases.claimOne('r0', by('c', later(LEASE_MS)))).toMatchObject({
    rename: { owner: 'c', attempts: 2 },
  });
});

test('a claim that somebody else has taken over can do nothing', async () => {
  await using parts = await openParts();
  const leases = await withDue(parts, 1);
  await leases.claim(by('late'));
  await leases.claim(by('next', later(LEASE_MS)));
  const late = { id: 'r0', token: 'late' };
  expect(await leases.renew(late, later(1))).toBe(false);
  expect(await leases.release(late, later(1))).toBe(false);
  expect(await leases.renew({ id: 'r0', token: 'next' }, later(2 * LEASE_MS))).toBe(true);
});

test('what is given back in order does not count as an attempt, a failure does and is kept', async () => {
  await using parts = await openParts();
  const leases = await withDue(parts, 1);
  const claim = { id: 'r0', token: 'a' };
  await leases.claim(by('a'));
  expect(await leases.release(claim, NOW)).toBe(true);
  expect((await leases.claim(by('a')))?.document.rename).toMatchObject({ attempts: 1 });
  await leases.release(claim, later(5_000), { error: new Error('$no') });
  expect(await leases.claim(by('b', later(4_999)))).toBeNull();
  expect((await leases.claim(by('b', later(5_000))))?.document.rename).toMatchObject({
    ...{ attempts: 2, error: '$no' },
  });
});

test('several are claimed together, each by one of workers that ask, and finished by who still has them', async () => {
  await using parts = await openParts();
  const leases = await withDue(parts, 5);
  const claims = await Promise.all([leases.claimSome(by('a'), 10), leases.claimSome(by('b'), 10)]);
  expect(
    claims
      .flat()
      .map(({ _id }) => _id)
      .sort(),
  ).toEqual(['r0', 'r1', 'r2', 'r3', 'r4']);
  await leases.claimOne('r0', by('c', later(LEASE_MS)));
  const ids = ['r0', 'r1', 'r2', 'r3', 'r4'];
  for (const token of ['a', 'b']) await leases.finishSome(token, ids);
  const open = await parts.database.collections.refs.find({ rename: { $exists: true } }).toArray();
  expect(open.map(({ _id }) => _id)).toEqual(['r0']);
});

test('a document that always has work belongs to one owner until that one leaves or dies', async () => {
  await using parts = await openParts();
  const leases = leased(parts.database.collections.eventState, 'lease');
  expect(await leases.take('events', by('a'))).toBeNull();
  const taken = await Promise.all(
    ['a', 'b'].map((token) => leases.take('events', by(token), { initial: {} })),
  );
  expect(taken.filter((document) => document !== null)).toHaveLength(1);
  const owner = taken[0] === null ? 'b' : 'a';
  expect(await leases.take('events', by(owner, later(1)))).not.toBeNull();
  expect(await leases.take('events', by('c', later(1)))).toBeNull();
  expect(await leases.take('events', by('c', later(LEASE_MS + 1)))).not.toBeNull();
  await leases.leave({ id: 'events', token: 'c' });
  expect(await leases.take('events', by('d', later(1)))).not.toBeNull();
});
