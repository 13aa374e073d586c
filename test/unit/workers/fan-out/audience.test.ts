import { expect, test } from 'vitest';
import type { Context } from '../../../../src/feed/context.ts';
import type { Action } from '../../../../src/domain/action.ts';
import { audienceOf } from '../../../../src/fan-out/audience.ts';
import type { FollowerPage } from '../../../../src/features/follow/store/follow-reads.ts';
import { compareUtf8 } from '../../../../src/lib/byte-text.ts';
import { fc } from '../../../support/fast-check.ts';

const userId = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', '\u00e9', '\uffff', '\u{10000}');
const users = fc.uniqueArray(userId, { maxLength: 10 });
const scenario = fc.record({
  mentions: users,
  followers: fc.array(users, { maxLength: 4 }),
  team: users,
  isTeam: fc.boolean(),
  chunkSize: fc.integer({ min: 1, max: 5 }),
});

function pageOf(all: readonly string[], after: string | null, limit: number): string[] {
  return [...all]
    .sort(compareUtf8)
    .filter((id) => after === null || compareUtf8(id, after) > 0)
    .slice(0, limit);
}

/** The same as the database gives. */
function followsOf(
  byRef: ReadonlyMap<string, readonly string[]>,
  spans: (followerId: string) => { readonly since: Date }[],
): Partial<Context['follows']> {
  const page = (refId: string, after: string | null, limit: number): FollowerPage => {
    const userIds = pageOf(byRef.get(refId) ?? [], after, limit);
    const next = userIds.length < limit ? null : (userIds.at(-1) ?? null);
    return { followers: userIds.map((followerId) => ({ followerId, spans: spans(followerId) })), next };
  };
  return {
    followers: (refId, after, limit) => Promise.resolve(page(refId, after, limit)),
    firstFollowers: (refIds, limit) => {
      const pages = new Map<string, FollowerPage>();
      let left = limit;
      for (const refId of [...refIds].sort(compareUtf8)) {
        if (left === 0) break;
        const first = page(refId, null, left);
        pages.set(refId, first);
        left -= first.followers.length;
      }
      return Promise.resolve(pages);
    },
  };
}

function actionWith(scope: Action['scope'], refIds: readonly string[], mentions: readonly string[]): Action {
  const recorded = new Date(1_000);
  return {
    id: 'a'.repeat(24),
    actorId: 'actor',
    conducted: recorded,
    recorded,
    idempotencyKey: null,
    rev: 1,
    scope,
    audience: scope === 'TEAM' ? ['team:t'] : ['followers'],
    mentions,
    recipients: [],
    refs: [],
    refIds,
    descriptor: { type: 'Custom', tags: [] },
    groupKey: null,
    engagement: { comments: 0, likes: 0, reshares: 0, reactions: [], lastInteraction: null },
    ...{ version: 1, editedAt: null, audienceRev: 0, concerned: null, formerlyConcerned: [] },
    givenRefs: null,
    expiresAt: null,
    isHidden: false,
    isDeleted: false,
    pullRefIds: [],
    reshares: [],
    isBumped: false,
    commentsVersion: 0,
    latest: recorded,
    fanOut: { state: 'PENDING', version: 1, attempts: 0, lane: 'LIVE', delivered: 0, error: null },
  };
}

test('names everybody once, in order of id, with every reason, and can continue after any reader', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ mentions, followers, team, isTeam, chunkSize }) => {
      const refIds = followers.map((_, index) => `ref${String(index)}`);
      const action = actionWith(isTeam ? 'TEAM' : 'FOLLOWERS', refIds, mentions);
      const sources = {
        follows: followsOf(new Map(refIds.map((refId, index) => [refId, followers[index] ?? []])), () => [
          { since: new Date(0) },
        ]),
        members: {
          inGroup: (_group: unknown, after: string | null, limit: number) =>
            Promise.resolve(
              pageOf(team, after, limit).map((id) => ({
                userId: id,
                name: id,
                teamId: 't',
                teamSince: new Date(0),
                departmentId: null,
                departmentSince: null,
                supervisorId: null,
              })),
            ),
        },
      };
      const read = async (afterUserId: string | null) => {
        const chunks = [];
        for await (const chunk of audienceOf(sources as unknown as Context, action, {
          afterUserId,
          chunkSize,
        }))
          chunks.push(chunk);
        return chunks;
      };
      const grouped = isTeam ? team : followers.flat();
      const expected = [...new Set([...mentions, ...grouped])].sort(compareUtf8).map((id) => ({
        userId: id,
        reasons: [
          ...(mentions.includes(id) ? ['MENTION'] : []),
          ...(grouped.includes(id) ? [isTeam ? 'TEAM' : 'FOLLOW'] : []),
        ],
        wasReached: false,
      }));
      const chunks = await read(null);
      expect(chunks.flat()).toEqual(expected);
      expect(chunks.slice(0, -1).every((chunk) => chunk.length === chunkSize)).toBe(true);
      expect(chunks.every((chunk) => chunk.length > 0)).toBe(true);
      for (let index = 0; index < expected.length; index++)
        expect((await read(expected[index]?.userId ?? null)).flat()).toEqual(expected.slice(index + 1));
    }),
  );
});

test('omits readers whose span or membership does not include the action, however many there are', async () => {
  const action = actionWith('FOLLOWERS', ['ref'], []);
  const spans = (id: string) => (id === 'z' ? [{ since: new Date(0) }] : [{ since: new Date(2_000) }]);
  const all = ['a', 'b', 'c', 'd', 'e', 'z'];
  const sources = {
    follows: followsOf(new Map([['ref', all]]), spans),
    members: { inGroup: () => Promise.resolve([]) },
  };
  const chunks = [];
  for await (const chunk of audienceOf(sources as unknown as Context, action, {
    afterUserId: null,
    chunkSize: 2,
  }))
    chunks.push(chunk);
  expect(chunks).toEqual([[{ userId: 'z', reasons: ['FOLLOW'], wasReached: false }]]);
});
