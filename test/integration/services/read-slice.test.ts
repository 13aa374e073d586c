import { expect, test } from 'vitest';
import type { Action } from '../../../src/domain/action.ts';
import type { Page } from '../../../src/core/shapes.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const refs = [{ id: 'site', type: 'site', label: 'Site' }];

async function slice(parts: Parts, userId: string, first: number, filter: object = {}): Promise<string[]> {
  const ids: string[] = [];
  let after: string | null = null;
  for (;;) {
    const page: Page<Action> = await parts.services.readSlice(parts.session(userId), 'site', {
      first,
      filter,
      after,
    });
    ids.push(...page.edges.map((edge) => edge.node.id));
    if (!page.hasMore) return ids;
    after = page.end;
  }
}

async function published(parts: Parts, count: number, more: object = {}): Promise<string[]> {
  const outcomes = await parts.services.publishActions(
    parts.service,
    Array.from({ length: count }, (_, n) => ({
      actorId: `actor${String(n % 2)}`,
      refs,
      scope: 'PUBLIC',
      conducted: new Date(Date.UTC(2026, 0, 1, 0, Math.floor(n / 3))),
      descriptor: {
        custom: { verb: 'posted', objectType: 'post', objectId: String(n), tags: [`t${String(n % 4)}`] },
      },
      ...more,
    })),
  );
  return outcomes.map((outcome) => outcome.action?.id ?? '').reverse();
}

test('returns all actions of a ref, newest first, in pages of any size, before any fan-out', async () => {
  await using parts = await openParts();
  const ids = await published(parts, 17);
  for (const first of [1, 4, 16, 17, 18]) expect(await slice(parts, 'anybody', first)).toEqual(ids);
});

test('works for any ref id, including the actor', async () => {
  await using parts = await openParts();
  const ids = await published(parts, 4);
  const page = await parts.services.readSlice(parts.session('anybody'), 'actor1', {});
  expect(page.edges.map((edge) => edge.node.id)).toEqual([ids[0], ids[2]]);
});

test('omits invisible actions, and fills the page up', async () => {
  await using parts = await openParts();
  const visible = await published(parts, 2);
  const forFollowers = await published(parts, 6, { scope: 'FOLLOWERS' });
  const { action } = await parts.publish({ refs, scope: 'RESTRICTED', recipients: ['ann'] });
  expect(await slice(parts, 'stranger', 1)).toEqual(visible);
  await parts.services.follow(parts.session('ann'), 'site', 0);
  const all = new Set(await slice(parts, 'ann', 2));
  expect(all).toEqual(new Set([...visible, ...forFollowers, action.id]));
});

test.each([
  [{ tags: ['t2'] }, (n: number) => n % 4 === 2],
  [{ actorIds: ['actor0'] }, (n: number) => n % 2 === 0],
  [{ types: ['NewApplicant'] }, () => false],
  [
    { since: new Date(Date.UTC(2026, 0, 1, 0, 1)), until: new Date(Date.UTC(2026, 0, 1, 0, 3)) },
    (n: number) => n >= 3 && n < 9,
  ],
])('filters by %j', async (filter, passes) => {
  await using parts = await openParts();
  const ids = await published(parts, 12);
  expect(await slice(parts, 'anybody', 2, filter)).toEqual(ids.filter((_, index) => passes(11 - index)));
});

test('rejects a cursor of another slice and of a feed', async () => {
  await using parts = await openParts();
  await published(parts, 3);
  const { end: endCursor } = await parts.services.readSlice(parts.session('ann'), 'actor0', { first: 1 });
  await expect(
    parts.services.readSlice(parts.session('ann'), 'site', { after: endCursor }),
  ).rejects.toMatchObject({ code: 'BAD_CURSOR' });
  await expect(parts.services.readFeed(parts.session('ann'), { after: endCursor })).rejects.toMatchObject({
    code: 'BAD_CURSOR',
  });
});

test('lists actions for admins and services only', async () => {
  await using parts = await openParts();
  const ids = await published(parts, 5);
  const first = await parts.services.listActions(parts.session('admin', 'admin'), { first: 3 });
  const rest = await parts.services.listActions(parts.session('admin', 'admin'), {
    first: 3,
    after: first.end,
    fanOutState: 'PENDING',
  });
  expect([...first.edges, ...rest.edges].map((edge) => edge.node.id)).toEqual(ids);
  await expect(parts.services.listActions(parts.session('ann'), {})).rejects.toMatchObject({
    code: 'FORBIDDEN',
  });
});
