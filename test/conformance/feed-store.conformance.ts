import { describe, expect, test } from 'vitest';
import type { FeedEntry } from '../../src/domain/newsfeed-item.ts';
import { at, deliver, entry, id, inOrder, readAll, type OpenFeedStore } from './feed-store-tools.ts';

/** What every feed model has to do. Run whole; there are no exemptions. */
export function feedStoreConformance(name: string, open: OpenFeedStore): void {
  describe(`feed model ${name}`, () => {
    test('has an empty feed for a reader without deliveries', async () => {
      await using fixture = await open();
      expect((await fixture.store.page({ userId: 'nobody', limit: 10 })).entries).toEqual([]);
      expect(await fixture.store.find('nobody', [id(1)])).toEqual([]);
    });

    test('stores one entry after one delivery, for its reader only', async () => {
      await using fixture = await open();
      const outcome = await deliver(fixture.store, 1, 5, ['ann'], { reasons: ['MENTION', 'FOLLOW'] });
      expect(outcome).toEqual({ added: ['ann'], raised: [] });
      expect(await readAll(fixture.store, 'ann', 10)).toEqual([entry(1, 5, ['MENTION', 'FOLLOW'])]);
      expect(await readAll(fixture.store, 'bob', 10)).toEqual([]);
    });

    test('orders by relevancy, then action id, both descending, including ties', async () => {
      await using fixture = await open();
      const entries = [entry(3, 10), entry(1, 10), entry(9, 5), entry(2, 10), entry(4, 20), entry(8, 5)];
      for (const { actionId, relevancy } of entries)
        await fixture.store.deliver([
          {
            actionId,
            readers: [{ userId: 'ann', relevancy, reasons: ['FOLLOW'] }],
            isFirstAttempt: true,
          },
        ]);
      expect(await readAll(fixture.store, 'ann', 100)).toEqual(inOrder(entries));
    });

    test('returns the same feed in pages of any size', async () => {
      await using fixture = await open();
      const entries = Array.from({ length: 23 }, (_, n) => entry(n + 1, Math.floor(n / 5)));
      await fixture.store.fill('ann', entries);
      for (const limit of [1, 2, 3, 5, 22, 23, 24, 100])
        expect(await readAll(fixture.store, 'ann', limit)).toEqual(inOrder(entries));
    });

    test('returns a time range: since inclusive, until exclusive', async () => {
      await using fixture = await open();
      const entries = Array.from({ length: 10 }, (_, n) => entry(n + 1, n));
      await fixture.store.fill('ann', entries);
      const range = { userId: 'ann', since: at(3), until: at(7) };
      const { entries: whole } = await fixture.store.page({ ...range, limit: 100 });
      expect(whole).toEqual(inOrder(entries.slice(3, 7)));
      const [first] = whole;
      const { entries: rest } = await fixture.store.page({
        ...range,
        limit: 100,
        ...(first === undefined ? {} : { after: first }),
      });
      expect(rest).toEqual(whole.slice(1));
    });

    test.each([true, false])(
      'delivers several actions at once, each to its own readers (first attempt: %s)',
      async (isFirstAttempt) => {
        await using fixture = await open();
        const { store } = fixture;
        await deliver(store, 1, 5, ['ann']);
        await deliver(store, 2, 3, ['bob']);
        const chunk = (n: number, ms: number, userIds: readonly string[]) => ({
          actionId: id(n),
          readers: userIds.map((userId) => ({ userId, relevancy: at(ms), reasons: ['FOLLOW' as const] })),
          isFirstAttempt,
        });
        const chunks = [
          chunk(1, 5, ['ann', 'bob']),
          chunk(2, 8, ['ann', 'bob', 'cid']),
          chunk(3, 9, []),
          chunk(4, 7, ['ann']),
        ];
        expect(await store.deliver(chunks)).toEqual([
          { added: ['bob'], raised: [] },
          { added: ['ann', 'cid'], raised: ['bob'] },
          { added: [], raised: [] },
          { added: ['ann'], raised: [] },
        ]);
        expect(await readAll(store, 'ann', 10)).toEqual([entry(2, 8), entry(4, 7), entry(1, 5)]);
        expect(await readAll(store, 'bob', 10)).toEqual([entry(2, 8), entry(1, 5)]);
        expect(await readAll(store, 'cid', 10)).toEqual([entry(2, 8)]);
        expect(await store.deliver([])).toEqual([]);
      },
    );

    test('changes nothing when the same chunk is delivered again, first attempt or not', async () => {
      await using fixture = await open();
      const users = ['ann', 'bob', 'cid'];
      await deliver(fixture.store, 1, 5, users);
      for (const isFirstAttempt of [true, false]) {
        await deliver(fixture.store, 1, 5, users, { isFirstAttempt });
        for (const user of users) expect(await readAll(fixture.store, user, 10)).toEqual([entry(1, 5)]);
      }
    });

    test('completes a partially written chunk', async () => {
      await using fixture = await open();
      await deliver(fixture.store, 1, 5, ['bob']);
      const outcome = await deliver(fixture.store, 1, 5, ['ann', 'bob', 'cid'], { isFirstAttempt: false });
      expect([...outcome.added].sort()).toEqual(['ann', 'cid']);
      expect(outcome.raised).toEqual([]);
      for (const user of ['ann', 'bob', 'cid'])
        expect(await readAll(fixture.store, user, 10)).toEqual([entry(1, 5)]);
    });

    test.each([true, false])(
      'puts one action into many feeds: some are new, some have other entries, some have it already (first attempt: %s)',
      async (isFirstAttempt) => {
        await using fixture = await open();
        const users = Array.from({ length: 90 }, (_, n) => `user${String(n)}`);
        const [begun, holding] = [users.slice(0, 60), users.slice(0, 25)];
        await deliver(fixture.store, 1, 5, begun);
        await deliver(fixture.store, 2, 6, holding);
        const outcome = await deliver(fixture.store, 2, 6, users, { isFirstAttempt });
        expect([...outcome.added].sort()).toEqual(users.slice(25).sort());
        expect(outcome.raised).toEqual([]);
        for (const user of users)
          expect(await readAll(fixture.store, user, 10)).toEqual(
            begun.includes(user) ? [entry(2, 6), entry(1, 5)] : [entry(2, 6)],
          );
        const raised = await deliver(fixture.store, 2, 9, users, { isFirstAttempt: false });
        expect(raised.added).toEqual([]);
        expect([...raised.raised].sort()).toEqual([...users].sort());
      },
    );

    test.each([true, false])(
      'only raises relevancy and only widens reasons (first attempt: %s)',
      async (isFirstAttempt) => {
        await using fixture = await open();
        await deliver(fixture.store, 1, 5, ['ann']);
        await deliver(fixture.store, 2, 6, ['ann']);
        const raised = await deliver(fixture.store, 1, 9, ['ann'], { reasons: ['MENTION'], isFirstAttempt });
        expect(raised).toEqual({ added: [], raised: ['ann'] });
        await deliver(fixture.store, 1, 3, ['ann'], { isFirstAttempt });
        const [top, next] = await readAll(fixture.store, 'ann', 10);
        expect({ ...top, reasons: [...(top?.reasons ?? [])].sort() }).toEqual(
          entry(1, 9, ['FOLLOW', 'MENTION']),
        );
        expect(next).toEqual(entry(2, 6));
      },
    );

    test('raises entries as it delivers: lower, equal, higher, for fewer reasons, and missing ones', async () => {
      await using fixture = await open();
      const { store } = fixture;
      const users = ['lower', 'as-high', 'higher', 'fewer', 'absent'];
      await deliver(store, 1, 5, users);
      await deliver(store, 2, 3, ['lower']);
      await deliver(store, 2, 8, ['as-high'], { reasons: ['FOLLOW', 'MENTION'] });
      await deliver(store, 2, 9, ['higher'], { reasons: ['MENTION'] });
      await deliver(store, 2, 8, ['fewer']);
      const raise = { reasons: ['MENTION' as const], isFirstAttempt: false, isRaise: true };
      expect((await deliver(store, 2, 8, users, raise)).added).toEqual(['absent']);
      const held = async (user: string): Promise<FeedEntry[]> =>
        (await readAll(store, user, 10)).map((found) => ({ ...found, reasons: [...found.reasons].sort() }));
      for (const user of ['lower', 'as-high', 'fewer'])
        expect(await held(user)).toEqual([entry(2, 8, ['FOLLOW', 'MENTION']), entry(1, 5)]);
      expect(await held('higher')).toEqual([entry(2, 9, ['MENTION']), entry(1, 5)]);
      expect(await held('absent')).toEqual([entry(2, 8, ['MENTION']), entry(1, 5)]);
      expect((await deliver(store, 2, 20, users, raise)).added).toEqual([]);
      for (const user of users) expect((await held(user))[0]).toMatchObject({ relevancy: at(20) });
    });

    test('moves a bumped entry to its new position, once', async () => {
      await using fixture = await open();
      await fixture.store.fill(
        'ann',
        Array.from({ length: 8 }, (_, n) => entry(n + 1, n)),
      );
      await deliver(fixture.store, 3, 100, ['ann'], { isFirstAttempt: false });
      const ids = (await readAll(fixture.store, 'ann', 3)).map((found) => found.actionId);
      expect(ids).toEqual([3, 8, 7, 6, 5, 4, 2, 1].map(id));
    });

    test('fills one feed with many actions and reports the new ones', async () => {
      await using fixture = await open();
      await deliver(fixture.store, 2, 2, ['ann', 'bob']);
      const entries = [entry(1, 1), entry(2, 7, ['TEAM']), entry(3, 3)];
      expect([...(await fixture.store.fill('ann', entries))].sort()).toEqual([id(1), id(3)]);
      expect(await fixture.store.fill('ann', entries)).toEqual([]);
      expect((await readAll(fixture.store, 'ann', 10)).map((found) => found.actionId)).toEqual([
        id(2),
        id(3),
        id(1),
      ]);
      expect(await readAll(fixture.store, 'bob', 10)).toEqual([entry(2, 2)]);
      expect(await fixture.store.fill('ann', [])).toEqual([]);
    });

    test('finds the entries of given actions only', async () => {
      await using fixture = await open();
      await fixture.store.fill('ann', [entry(1, 1), entry(2, 2), entry(3, 3)]);
      const found = await fixture.store.find('ann', [id(3), id(1), id(77)]);
      expect(inOrder(found)).toEqual([entry(3, 3), entry(1, 1)]);
    });

    test('reports which of the given readers have an action', async () => {
      await using fixture = await open();
      await deliver(fixture.store, 1, 5, ['ann', 'bob', 'cid']);
      await deliver(fixture.store, 1, 7, ['bob']);
      await deliver(fixture.store, 2, 9, ['dan']);
      const held = await fixture.store.held(id(1), ['ann', 'bob', 'dan']);
      const { relevancy: low } = entry(1, 5);
      const { relevancy: high } = entry(1, 7);
      expect(held.map(({ userId, relevancy }) => [userId, relevancy]).sort()).toEqual([
        ['ann', low],
        ['bob', high],
      ]);
    });

    test('lists the readers who have an action and removes it from their feeds, in parts', async () => {
      await using fixture = await open();
      const users = Array.from({ length: 25 }, (_, n) => `user${String(n).padStart(2, '0')}`);
      await deliver(fixture.store, 1, 1, users);
      await deliver(fixture.store, 2, 2, users);
      const notified: string[] = [];
      const sizes: number[] = [];
      for (;;) {
        const part = await fixture.store.holders(id(1), { limit: 10 });
        expect(await fixture.store.holders(id(1), { limit: 10 })).toEqual(part);
        await fixture.store.remove(part, [id(1)]);
        notified.push(...part);
        sizes.push(part.length);
        if (part.length < 10) break;
      }
      expect(sizes).toEqual([10, 10, 5]);
      expect([...notified].sort()).toEqual(users);
      expect(await fixture.store.holders(id(1), { limit: 10 })).toEqual([]);
      for (const user of users) expect(await readAll(fixture.store, user, 10)).toEqual([entry(2, 2)]);
    });

    test('removes from the feeds of the given readers only, whether or not they have it', async () => {
      await using fixture = await open();
      await deliver(fixture.store, 1, 1, ['ann', 'bob']);
      await fixture.store.remove(['ann', 'nobody'], [id(1)]);
      await fixture.store.remove([], [id(1)]);
      expect(await fixture.store.holders(id(1), { limit: 10 })).toEqual(['bob']);
    });

    test('removes single entries from one feed only', async () => {
      await using fixture = await open();
      await deliver(fixture.store, 1, 1, ['ann', 'bob']);
      await deliver(fixture.store, 2, 2, ['ann', 'bob']);
      await fixture.store.remove(['ann'], [id(1), id(99)]);
      await fixture.store.remove(['ann'], []);
      expect(await readAll(fixture.store, 'ann', 10)).toEqual([entry(2, 2)]);
      expect((await readAll(fixture.store, 'bob', 10)).length).toBe(2);
    });

    test('drops a whole feed and can be filled again', async () => {
      await using fixture = await open();
      await deliver(fixture.store, 1, 1, ['ann', 'bob']);
      await fixture.store.drop('ann');
      expect(await readAll(fixture.store, 'ann', 10)).toEqual([]);
      expect(await readAll(fixture.store, 'bob', 10)).toEqual([entry(1, 1)]);
      await fixture.store.fill('ann', [entry(1, 1)]);
      expect(await readAll(fixture.store, 'ann', 10)).toEqual([entry(1, 1)]);
    });

    test('lets two writers deliver the same chunk concurrently: every reader has it once and is notified of it once', async () => {
      await using fixture = await open();
      const users = Array.from({ length: 200 }, (_, n) => `user${String(n)}`);
      const outcomes = await Promise.all(
        [1, 2, 3, 4].map((n) => deliver(fixture.store, 1, n, users, { isFirstAttempt: n % 2 === 0 })),
      );
      expect(outcomes.flatMap((outcome) => outcome.added).sort()).toEqual([...users].sort());
      for (const user of users.slice(0, 20))
        expect(await readAll(fixture.store, user, 10)).toEqual([entry(1, 4)]);
    });

    test('accepts user ids with any characters', async () => {
      await using fixture = await open();
      const users = [
        '$ne',
        'a.b',
        'a_1',
        'ü',
        '\u{1f600}',
        ' ',
        'a:b',
        '{"$gt":""}',
        '__proto__',
        'x'.repeat(256),
      ];
      await deliver(fixture.store, 1, 1, users);
      for (const user of users) expect(await readAll(fixture.store, user, 10)).toEqual([entry(1, 1)]);
    });
  });
}
