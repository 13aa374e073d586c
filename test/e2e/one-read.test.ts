import { expect, test } from 'vitest';
import { startTestApp } from '../support/app.ts';
import { ask, publish } from '../support/feed-api.ts';

interface Answer {
  readonly feed: {
    readonly unread: { readonly count: number; readonly isExact: boolean };
    readonly edges: readonly { readonly node: { readonly isUnread: boolean } }[];
  };
}

const PAGE = `query ($filter: FeedFilter) {
  feed(first: 100, filter: $filter) { edges { node { isUnread } } ...Count }
} fragment Count on FeedConnection { unread { count isExact } }`;

test('a response counts as many unread entries as it lists, while others publish', async () => {
  await using app = await startTestApp();
  const reader = { sub: 'reader' };
  for (let n = 0; n < 3; n++) await publish(app, { mentions: ['reader'] });
  await app.idle();
  const over = new AbortController();
  const publishing = (async () => {
    for (let n = 0; !over.signal.aborted && n < 40; n++) await publish(app, { mentions: ['reader'] });
  })();
  for (let n = 0; n < 25; n++) {
    const { feed } = await ask<Answer>(app, PAGE, {}, reader);
    expect(feed.unread).toEqual({
      count: feed.edges.filter(({ node }) => node.isUnread).length,
      isExact: true,
    });
  }
  over.abort();
  await publishing;
});

test("the count of a list uses its filter, the viewer's count is of the whole feed", async () => {
  await using app = await startTestApp();
  for (const tags of [['red'], ['red'], ['blue']])
    await publish(app, {
      mentions: ['reader'],
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: 'p', tags } },
    });
  await app.idle();
  const answer = await ask<{ viewer: object; red: object; none: object }>(
    app,
    `{ viewer { unreadCount { count } }
       red: feed(first: 1, filter: { tags: ["red"] }) { unread { count } }
       none: feed(filter: { types: ["Posted"] }) { unread { count } } }`,
    {},
    { sub: 'reader' },
  );
  expect(answer).toEqual({
    viewer: { unreadCount: { count: 3 } },
    red: { unread: { count: 2 } },
    none: { unread: { count: 0 } },
  });
  const { errors } = await app.query('{ feed(filter: { types: ["Nope"] }) { state } }');
  expect(errors[0]).toMatchObject({
    message: expect.stringContaining('Unknown type "Nope", known are ApplicationRating,') as string,
    extensions: { code: 'BAD_USER_INPUT' },
  });
});
