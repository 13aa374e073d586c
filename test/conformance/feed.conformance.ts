import { describe, expect, test } from 'vitest';
import { clock } from '../../src/lib/clock.ts';
import type { DeliveryReason } from '../../src/domain/newsfeed-item.ts';
import { openParts, type Parts } from '../support/parts.ts';
import { idsOf, publishSome, rows } from './feed-tools.ts';

const MINUTE = 60_000;

/**
 * What a feed promises to its reader, whatever model stores it, whether it stores anything, and however little it may
 * keep of it: run whole by every model.
 */
export function feedConformance(model: string, cap: number): void {
  const open = (): Promise<Parts> => openParts({ model, cap });
  const follow = (parts: Parts, ...followers: string[]): Promise<number> =>
    parts.services.followMany(
      parts.service,
      followers.map((followerId) => ({ followerId, refId: 'site' })),
    );
  describe(`feeds by ${model}, of which ${String(cap)} entries may be stored`, () => {
    test('are empty, and have one entry', async () => {
      await using parts = await open();
      await follow(parts, 'ann');
      expect(await parts.services.readFeed(parts.session('ann'), {})).toMatchObject({
        edges: [],
        hasMore: false,
        end: null,
      });
      const [id] = await publishSome(parts, 1);
      await parts.fanOut();
      expect(await idsOf(parts, 'ann')).toEqual([id]);
      expect(await idsOf(parts, 'bob')).toEqual([]);
    });

    test('are in order, ties by action id, in pages of any size', async () => {
      await using parts = await open();
      await follow(parts, 'ann');
      const ids = await publishSome(parts, 30, { timeOf: (n) => Math.floor(n / 4) });
      await parts.fanOut();
      const newestFirst = ids.map((id, n) => ({ id, time: Math.floor(n / 4) }));
      newestFirst.sort((a, b) => b.time - a.time || (a.id < b.id ? 1 : -1));
      for (const size of [1, 3, 4, 29, 30, 31, 100])
        expect(await idsOf(parts, 'ann', size)).toEqual(newestFirst.map(({ id }) => id));
    });

    test('move a bumped item to its new position, once, and never down', async () => {
      await using parts = await open();
      await follow(parts, 'ann');
      const ids = await publishSome(parts, 8, { mentions: ['ann'] });
      await parts.fanOut();
      const [oldest = '', second = '', ...others] = ids;
      const comment = async (actionId: string, at: Date): Promise<void> => {
        const session = parts.session('bob', 'admin');
        await parts.services.addInteraction(session, { actionId, kind: 'COMMENT', at });
        await parts.fanOut();
      };
      const bumpedAt = new Date(Date.now() - MINUTE);
      await comment(oldest, bumpedAt);
      expect(await idsOf(parts, 'ann', 3)).toEqual([oldest, ...[...others].reverse(), second]);
      await comment(oldest, new Date(bumpedAt.getTime() - MINUTE));
      const [top] = await rows(parts, 'ann', { first: 3 });
      expect(top).toMatchObject({ actionId: oldest, relevancy: bumpedAt });
      await comment(second, new Date(bumpedAt.getTime() + 1));
      expect(await idsOf(parts, 'ann', 3)).toEqual([second, oldest, ...[...others].reverse()]);
    });

    test('have every reason, and lose an item whose only reason ended, and nothing else', async () => {
      await using parts = await open();
      await follow(parts, 'ann');
      const followed = await publishSome(parts, 5);
      const both = await publishSome(parts, 3, { mentions: ['ann'] });
      const mentioned = await publishSome(parts, 2, { mentions: ['ann'], refId: 'elsewhere' });
      await parts.fanOut();
      const reasons = async (id: string | undefined): Promise<readonly DeliveryReason[]> =>
        (await rows(parts, 'ann')).find(({ actionId }) => actionId === id)?.reasons.toSorted() ?? [];
      expect(await reasons(followed[0])).toEqual(['FOLLOW']);
      expect(await reasons(both[0])).toEqual(['FOLLOW', 'MENTION']);
      expect(await reasons(mentioned[0])).toEqual(['MENTION']);
      await parts.services.unfollow(parts.session('ann'), 'site', false);
      await parts.fanOut();
      expect((await idsOf(parts, 'ann')).toSorted()).toEqual([...both, ...mentioned].toSorted());
      expect(await reasons(both[0])).toEqual(['MENTION']);
    });

    test('lose deleted actions, and hidden ones while they are hidden, for everybody', async () => {
      await using parts = await open();
      await follow(parts, 'ann', 'bob', 'cid');
      const ids = await publishSome(parts, 9);
      await parts.fanOut();
      const [gone, hidden] = [ids[4] ?? '', ids[8] ?? ''];
      const rest = ids.filter((id) => id !== gone && id !== hidden);
      const admin = parts.session('root', 'admin');
      await parts.services.deleteAction(admin, gone);
      await parts.services.hideAction(admin, hidden, null);
      for (const when of ['at once', 'after the pass']) {
        for (const userId of ['ann', 'bob', 'cid'])
          expect(await idsOf(parts, userId, 2), when).toEqual([...rest].reverse());
        await parts.fanOut();
      }
      await parts.services.unhideAction(admin, hidden);
      await parts.fanOut();
      for (const userId of ['ann', 'bob', 'cid'])
        expect(await idsOf(parts, userId, 2)).toEqual([...rest, hidden].reverse());
    });

    test('lose what their reader hides, and no other feed does', async () => {
      await using parts = await open();
      await follow(parts, 'ann', 'bob');
      const ids = await publishSome(parts, 8);
      await parts.fanOut();
      const newestFirst = [...ids].reverse();
      const own = [newestFirst[0] ?? '', newestFirst[6] ?? ''];
      for (const id of own) await parts.services.hideFeedItem(parts.session('ann'), id);
      const left = newestFirst.filter((id) => !own.includes(id));
      for (const size of [1, 100]) expect(await idsOf(parts, 'ann', size)).toEqual(left);
      expect(await idsOf(parts, 'bob')).toEqual(newestFirst);
      for (const id of own) await parts.services.unhideFeedItem(parts.session('ann'), id);
      await parts.fanOut();
      expect(await idsOf(parts, 'ann')).toEqual(newestFirst);
    });

    test('count unread items, up to a hundred', async () => {
      await using parts = await open();
      await follow(parts, 'ann');
      const count = () => parts.services.countUnread(parts.session('ann'));
      expect(await count()).toEqual({ count: 0, isExact: true });
      await publishSome(parts, 100);
      await parts.fanOut();
      expect(await count()).toEqual({ count: 100, isExact: true });
      const all = await rows(parts, 'ann');
      await parts.services.markFeedRead(parts.session('ann'), all[7]?.relevancy ?? new Date(0));
      expect(await count()).toEqual({ count: 7, isExact: true });
      await parts.services.markFeedRead(parts.session('ann'), all[99]?.relevancy ?? clock.now());
      expect(await count()).toEqual({ count: 7, isExact: true });
    });

    test('return a time range: since inclusive, until exclusive', async () => {
      await using parts = await open();
      await follow(parts, 'ann');
      await publishSome(parts, 20);
      await parts.fanOut();
      const all = await rows(parts, 'ann');
      const [until, since] = [all[5]?.relevancy ?? null, all[15]?.relevancy ?? null];
      for (const first of [2, 100]) {
        expect(await rows(parts, 'ann', { first, filter: { since } })).toEqual(all.slice(0, 16));
        expect(await rows(parts, 'ann', { first, filter: { until } })).toEqual(all.slice(6));
        expect(await rows(parts, 'ann', { first, filter: { since, until } })).toEqual(all.slice(6, 16));
      }
    });

    test('contain everything once though two workers deliver it, and again', async () => {
      await using parts = await open();
      const readers = Array.from({ length: 250 }, (_, n) => `r${String(n)}`);
      await follow(parts, ...readers);
      const ids = await publishSome(parts, 6);
      {
        await using one = parts.worker();
        await using other = parts.worker();
        one.start();
        other.start();
        await parts.idle();
      }
      const expected = [...ids].reverse();
      for (let again = 0; again < 2; again++) {
        for (const userId of ['r0', 'r99', 'r100', 'r249'])
          expect(await idsOf(parts, userId, 4)).toEqual(expected);
        for (const id of ids) await parts.repositories.fanOuts.requestPass(id, new Date());
        await parts.fanOut();
      }
    });

    test('contain everything once though a delivery fails half-way', async () => {
      await using parts = await open();
      const readers = Array.from({ length: 150 }, (_, n) => `r${String(n)}`);
      await follow(parts, ...readers);
      const ids = await publishSome(parts, 2);
      let failures = 0;
      {
        await using worker = parts.worker(
          {},
          {
            feedStore: {
              ...parts.feedStore,
              deliver: async (chunks) => {
                if (failures >= 2) return parts.feedStore.deliver(chunks);
                failures += 1;
                const halves = chunks.map(({ readers, ...chunk }) => ({
                  ...chunk,
                  readers: readers.slice(0, Math.ceil(readers.length / 2)),
                }));
                await parts.feedStore.deliver(halves);
                throw new Error('The connection was lost');
              },
            },
          },
        );
        worker.start();
        await parts.idle();
      }
      expect(failures).toBe(2);
      for (const userId of ['r0', 'r49', 'r50', 'r149'])
        expect(await idsOf(parts, userId, 1)).toEqual([...ids].reverse());
    });
  });
}
