import { createFanfare as inApollo } from '@fanfare/apollo';
import { createFanfare as inUrql } from '@fanfare/urql';
import { expect, onTestFinished, test, vi } from 'vitest';
import { inBrowser } from '../support/frontends/packages.ts';
import { createSlowServer } from '../support/frontends/slow-server.ts';
import { seededRandom } from '../support/seeded-random.ts';

const IDS = { ann: btoa('Action:65000000000000000000000a'), ben: btoa('Action:65000000000000000000000b') };

/** A server on which each of two readers has an action that the other may not see. */
function open(create: typeof inApollo | typeof inUrql) {
  const servers = {
    ann: createSlowServer(seededRandom(1), IDS.ann, 'of-ann'),
    ben: createSlowServer(seededRandom(2), IDS.ben, 'of-ben'),
  };
  const who: { is: keyof typeof servers } = { is: 'ann' };
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    const { authorization = '' } = init.headers as Record<string, string>;
    return servers[authorization === 'Bearer ann' ? 'ann' : 'ben'].fetch(url, init);
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  const options = { url: 'http://server/graphql', token: () => who.is, fields: { action: 'isHidden' } };
  const fanfare = inBrowser(() => create(options));
  const feed = fanfare.feed();
  const ids = () => feed.read()?.edges.map(({ node }) => node.action.id);
  return { fanfare, feed, ids, who };
}

const WAYS = [
  ['Apollo Client', inApollo],
  ['urql', inUrql],
] as const;

test.each(WAYS)('%s shows nothing of the former reader, and goes on for the next', async (_name, create) => {
  const { fanfare, feed, ids, who } = open(create);
  const shown: string[] = [];
  const watched =
    'watchQuery' in fanfare.client
      ? fanfare.client
          .watchQuery({ query: feed.query, variables: feed.variables })
          .subscribe(({ data }) => void shown.push(JSON.stringify(data ?? null)))
      : fanfare.client
          .query(feed.query, feed.variables)
          .subscribe(({ data }) => void shown.push(JSON.stringify(data ?? null)));
  expect(fanfare.language).toBeUndefined();
  await vi.waitFor(() => expect(shown.at(-1)).toContain(IDS.ann));
  expect(fanfare.language).toBe('de');
  const bookmarks = fanfare.list('bookmarks');
  const stop = bookmarks.watch();
  await fanfare.bookmark(IDS.ann);
  await vi.waitFor(() => expect(bookmarks.read()?.edges).toHaveLength(1));
  who.is = 'ben';
  await expect(fanfare.list('comments', { actionId: IDS.ben }).load()).rejects.toThrow();
  // At once, and soon on the screen.
  expect(ids()).toBeUndefined();
  await vi.waitFor(() => expect(shown.at(-1)).toContain(IDS.ben));
  expect(shown.at(-1)).not.toContain(IDS.ann);
  await vi.waitFor(() => expect(bookmarks.read()?.edges).toEqual([]));
  expect(ids()).toEqual([IDS.ben]);
  stop();
  watched.unsubscribe();
});

test.each(WAYS)('%s tells of each change of a list, by what its cache shows', async (_name, create) => {
  const { fanfare, feed } = open(create);
  const liked: (boolean | undefined)[] = [];
  const end = feed.subscribe((page) => liked.push(page?.edges[0]?.node.action.viewer.hasLiked));
  await feed.load();
  await vi.waitFor(() => expect(liked.at(-1)).toBe(false));
  const sent = fanfare.like(IDS.ann);
  // Before the server has answered.
  expect(feed.read()?.edges[0]?.node.action.viewer.hasLiked).toBe(true);
  await vi.waitFor(() => expect(liked.at(-1)).toBe(true));
  await sent;
  end();
  const before = liked.length;
  await fanfare.unlike(IDS.ann);
  expect(liked).toHaveLength(before);
});

test.each(WAYS)(
  '%s: deeds that wait are not done in the name of the next reader, and all settle',
  async (_name, create) => {
    const { fanfare, feed, ids, who } = open(create);
    await feed.load();
    const first = fanfare.like(IDS.ann);
    const second = fanfare.unlike(IDS.ann);
    who.is = 'ben';
    await feed.load().catch(() => undefined);
    const settled = await Promise.allSettled([first, second]);
    expect(settled.at(-1)?.status).toBe('rejected');
    await feed.load();
    expect(ids()).toEqual([IDS.ben]);
  },
);

test.each(WAYS)('%s ends everything for good, and forgets it', async (_name, create) => {
  const { fanfare, feed, ids } = open(create);
  await feed.load();
  const under = [feed.load(), fanfare.like(IDS.ann)];
  fanfare.close();
  for (const { status } of await Promise.allSettled(under)) expect(status).toBe('rejected');
  expect(ids()).toBeUndefined();
  await expect(feed.load()).rejects.toThrow();
  await expect(fanfare.like(IDS.ann)).rejects.toThrow();
});

test('on a server a cache is made for each request, with a token as text', () => {
  const options = { url: 'http://localhost/graphql' };
  for (const [, create] of WAYS) {
    expect(() => create({ ...options, token: () => 'token' })).toThrow(/one for each request/);
    expect(() => create({ ...options, token: 'token' })).not.toThrow();
  }
});
