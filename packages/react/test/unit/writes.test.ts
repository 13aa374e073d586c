import type { FeedPage } from '@fanfare/client';
import { expect, test, vi } from 'vitest';
import { fc } from '../../../../test/support/fast-check.ts';
import type { FanfareAction, FanfareItem } from '../../src/item.ts';
import * as deeds from '../../src/store/deeds.ts';
import * as engaging from '../../src/store/engaging.ts';
import { Reader } from '../../src/store/reader.ts';
import { createTestClient, testItem } from '../../src/testing.ts';

const AT = '2026-01-01T00:00:00.000Z';
const OTHERS = 3;

/** The action as a server has it: liked by three others, and by the reader or not. */
function actionOf(hasLiked: boolean): FanfareAction {
  const { action } = testItem('a', AT);
  return {
    ...action,
    viewer: { ...action.viewer, hasLiked },
    engagement: { ...action.engagement, likes: OTHERS + Number(hasLiked) },
  };
}
const itemOf = (hasLiked: boolean): FanfareItem => testItem('a', AT, { action: actionOf(hasLiked) });

function pageOf(items: readonly FanfareItem[], hasNextPage = false): FeedPage<FanfareItem> {
  return {
    edges: items.map((node) => ({ cursor: node.id, node })),
    pageInfo: { hasNextPage, endCursor: items.at(-1)?.id ?? null },
    ...{ unread: { count: 0, isExact: true }, state: 'READY', liveCursor: 'live' },
  };
}

interface Sent {
  readonly isGiven: boolean;
  serve(): void;
  answer(): void;
  fail(): void;
}

/** A server that takes requests, and whose answers arrive, in any order in which both can. */
async function settle() {
  const world = { hasLiked: false };
  /** On their way there. */
  const coming: Sent[] = [];
  /** Their answers are on the way back. */
  const going: Sent[] = [];
  const send = (isGiven: boolean) => () =>
    new Promise<{ isReplay: boolean; interaction: null; action: FanfareAction }>((resolve, reject) => {
      let action = actionOf(world.hasLiked);
      coming.push({
        isGiven,
        serve: () => {
          world.hasLiked = isGiven;
          action = actionOf(isGiven);
        },
        answer: () => {
          resolve({ isReplay: false, interaction: null, action });
        },
        fail: () => {
          reject(new Error('No'));
        },
      });
    });
  const client = createTestClient({
    feed: () => [itemOf(world.hasLiked)],
    mutations: { addInteraction: send(true), removeInteraction: send(false) },
  });
  const reader = new Reader({ client });
  const leave = reader.feed({}).use(() => undefined);
  while (client.watching === 0) await tick();
  const shown = (): [boolean, number] => {
    const { viewer, engagement } = reader.actions.get('action-a') ?? actionOf(false);
    return [viewer.hasLiked, engagement.likes];
  };
  return { world, coming, going, client, reader, leave, shown };
}

const takeFrom = <T>(list: T[], at: number): T | undefined =>
  list.splice(at % Math.max(1, list.length), 1)[0];
/** What a promise leads to has happened. */
const tick = (): Promise<unknown> => new Promise(setImmediate);

const step = fc.oneof(
  { weight: 3, arbitrary: fc.boolean().map((isGiven) => ['want', Number(isGiven)] as const) },
  {
    weight: 4,
    arbitrary: fc.tuple(fc.constantFrom('serve', 'answer', 'fail', 'event'), fc.nat(3)),
  },
);

test('overlapping likes, in any network order, end with the last that succeeded, and always show the last choice', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 40 }), async (steps) => {
      const { world, coming, going, client, reader, leave, shown } = await settle();
      const open: { readonly isGiven: boolean }[] = [];
      let lands = false;
      const act = async (kind: (typeof steps)[number][0], n: number): Promise<void> => {
        if (kind === 'want') {
          const wish = { isGiven: n === 1 };
          open.push(wish);
          void engaging
            .interact(reader, 'action-a', 'LIKE', wish.isGiven)
            .then(
              () => {
                lands = wish.isGiven;
              },
              () => undefined,
            )
            .finally(() => open.splice(open.indexOf(wish), 1));
        } else if (kind === 'serve') {
          const sent = takeFrom(coming, n);
          sent?.serve();
          if (sent !== undefined) going.push(sent);
        } else if (kind === 'answer') takeFrom(going, n)?.answer();
        else if (kind === 'fail') takeFrom(coming, n)?.fail();
        else await client.emit({ __typename: 'FeedItemUpdated', item: itemOf(world.hasLiked) });
        await tick();
        const wanted = open.at(-1)?.isGiven ?? world.hasLiked;
        expect(shown()).toEqual([wanted, OTHERS + Number(wanted)]);
      };
      for (const [kind, n] of steps) await act(kind, n);
      while (coming.length + going.length > 0) await act(coming.length > 0 ? 'serve' : 'answer', 0);
      expect([open, world.hasLiked, shown()]).toEqual([[], lands, [lands, OTHERS + Number(lands)]]);
      leave();
    }),
    { numRuns: 200 },
  );
});

test('an item that is hidden, restored and hidden again before any response stays hidden', async () => {
  const sent: { readonly name: string; readonly answer: () => void }[] = [];
  const send = (name: string) => (of: { readonly actionId: string }) =>
    new Promise<typeof of>((resolve) => {
      sent.push({
        name,
        answer: () => {
          resolve(of);
        },
      });
    });
  const client = createTestClient({
    feed: () => [itemOf(false)],
    mutations: { hideFeedItem: send('hide'), unhideFeedItem: send('unhide') },
  });
  const reader = new Reader({ client });
  const feed = reader.feed({});
  const leave = feed.use(() => undefined);
  await vi.waitFor(() => expect(client.watching).toBe(1));
  const answered = async (count: number): Promise<void> => {
    await vi.waitFor(() => expect(sent).toHaveLength(count));
    sent.at(-1)?.answer();
  };
  const item = itemOf(false);
  const hiding = deeds.remove(reader, item, 'hide');
  await answered(1);
  const undo = await hiding;
  const over = Promise.all([undo(), deeds.remove(reader, item, 'hide')]);
  await answered(2);
  await answered(3);
  await over;
  expect([sent.map(({ name }) => name), feed.getSnapshot().items]).toEqual([['hide', 'unhide', 'hide'], []]);
  leave();
});

test('an event about an action that arrives while a page is loading is newer than the page', async () => {
  const old = testItem('old', '2025-01-01T00:00:00.000Z');
  let arrive: (page: FeedPage<FanfareItem>) => void = () => undefined;
  let isFirst = true;
  const client = createTestClient({
    feed: () => {
      if (!isFirst)
        return new Promise((resolve) => {
          arrive = resolve;
        });
      isFirst = false;
      return Promise.resolve(pageOf([itemOf(false)], true));
    },
    mutations: {
      addInteraction: () => Promise.resolve({ isReplay: false, interaction: null, action: actionOf(true) }),
    },
  });
  const reader = new Reader({ client });
  const feed = reader.feed({});
  const leave = feed.use(() => undefined);
  await vi.waitFor(() => expect(client.watching).toBe(1));
  const likes = () => feed.getSnapshot().items.map(({ action }) => action.engagement.likes);
  // The page was read before the like, and has an item that moved down meanwhile.
  const loading = feed.loadMore();
  await engaging.interact(reader, 'action-a', 'LIKE', true);
  arrive(pageOf([itemOf(false), old]));
  await loading;
  expect(likes()).toEqual([OTHERS + 1, 0]);
  const refreshing = feed.refresh();
  const counted = { ...actionOf(true), engagement: { ...actionOf(true).engagement, likes: 9 } };
  await client.emit({ __typename: 'FeedItemUpdated', item: { ...itemOf(true), action: counted } });
  arrive(pageOf([itemOf(true), old]));
  await refreshing;
  expect(likes()).toEqual([9, 0]);
  leave();
});
