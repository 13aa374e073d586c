import { ObjectId } from 'mongodb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { commentTo, type CommentTo } from '../../support/comments-to.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { SEED } from '../../support/seed.ts';

const MINUTE_MS = 60_000;

let parts: Parts;
beforeEach(async () => {
  parts = await openParts();
});
afterEach(async () => parts[Symbol.asyncDispose]());

const publish = async (): Promise<string> =>
  (await parts.publish({ actorId: 'bob', scope: 'PUBLIC' })).action.id;

/** The whole list of ann, in pages. */
async function listed(first: number) {
  const found: { key: string; at: number; count: number }[] = [];
  let after: string | null = null;
  for (;;) {
    const page: Awaited<ReturnType<Parts['services']['readNotifications']>> =
      await parts.services.readNotifications(parts.session('ann'), { first, after });
    for (const { node } of page.edges)
      found.push({
        ...{ key: node.group.key, at: node.group.at.getTime(), count: node.group.events.length },
      });
    if (!page.hasMore) return found;
    after = page.edges.at(-1)?.cursor ?? null;
  }
}

test('comments to a member are listed once per action, whatever lies between, is hidden, or comes from others', async () => {
  const { below, pick } = seededRandom(SEED);
  const threads: string[] = [];
  for (let n = 0; n < 130; n += 1) threads.push(await publish());
  const hot = threads.slice(0, 3);
  await parts.services.blockMember(parts.session('ann'), 'm1');
  await parts.services.addMute(parts.session('ann'), { memberId: 'm2' });
  const now = Date.now();
  const comments = Array.from({ length: 1_500 }, (_, n): CommentTo => {
    const state = pick(['VISIBLE', 'VISIBLE', 'VISIBLE', 'HIDDEN', 'REMOVED'] as const);
    return {
      actionId: n % 3 === 0 ? pick(threads) : pick(hot),
      of: pick(['mentions', 'replies']),
      actorId: `m${String(below(8))}`,
      at: new Date(now - below(1_000) * 1_000),
      ...(state === 'VISIBLE' ? {} : { state }),
    };
  });
  await commentTo(parts, 'ann', comments);
  const expected = new Map<string, { key: string; at: number; count: number }>();
  for (const { actionId, of, actorId, at, state } of comments) {
    if (state !== undefined || actorId === 'm1' || actorId === 'm2') continue;
    const key = `${of === 'mentions' ? 'MENTION' : 'REPLY'}:${actionId}`;
    const { at: newest, count } = expected.get(key) ?? { at: 0, count: 0 };
    expected.set(key, { key, at: Math.max(newest, at.getTime()), count: Math.min(count + 1, 101) });
  }
  const inOrder = [...expected.values()].sort((a, b) => b.at - a.at || (a.key < b.key ? -1 : 1));
  for (const first of [20, 100]) expect(await listed(first)).toEqual(inOrder);
});

test('who a comment concerns finds it where it became visible, also if that is long after it was written', async () => {
  const { services, session } = parts;
  const actionId = await publish();
  const said = await services.addInteraction(session('ann'), { actionId, kind: 'COMMENT', text: 'Me' });
  const at = new Date(Date.now() - 10 * MINUTE_MS);
  const mention = await services.addInteraction(session('cid'), {
    ...{ actionId, kind: 'COMMENT', text: 'Ann?', mentions: ['ann'], at },
  });
  const reply = await services.addInteraction(session('cid'), {
    ...{ actionId, kind: 'COMMENT', text: 'You', parentId: said.interaction.id, at },
  });
  const { interactions, threads } = parts.database.collections;
  const shown = async (id: string): Promise<number> =>
    (await interactions.findOne({ _id: new ObjectId(id) }))?.shownAt?.getTime() ?? Infinity;
  const place = async () => {
    const thread = await threads.findOne({ _id: { userId: 'ann', actionId: new ObjectId(actionId) } });
    return thread?.at.getTime();
  };
  expect(await place()).toBe(await shown(reply.interaction.id));
  for (const { interaction } of [mention, reply]) {
    await services.hideInteraction(session('admin', 'admin'), interaction.id, null);
    await services.unhideInteraction(session('admin', 'admin'), interaction.id);
    expect(await place()).toBe(await shown(interaction.id));
  }
});
