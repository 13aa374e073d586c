import { parseAtomFeed, parseJsonFeed, parseRssFeed } from 'feedsmith';
import { SaxesParser } from 'saxes';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fc } from '../../../../test/support/fast-check.ts';
import { startTestApp, type TestApp } from '../../../../test/support/app.ts';
import { commandsOf } from '../../../../test/support/commands.ts';
import { ask, publish, upsert } from '../../../../test/support/feed-api.ts';

// Feeds are asked for as a feed reader asks for them, and read by parsers that are not ours.

const PUBLIC_URL = 'https://feed.example';
const HOSTILE = '<script>alert(1)</script> & "quoted" \'single\' ]]> <![CDATA[ \u0001\u000b\uFFFF end';
const POST = { id: 'post/1', type: 'post', label: 'Launch & <i>more</i>' };
const FORMATS = ['json', 'rss', 'atom'] as const;

let app: TestApp;
/** Does nothing but what it is asked for. */
let quiet: TestApp;
let published: string;

beforeAll(async () => {
  const env = { SYNDICATION: 'on', PUBLIC_URL };
  app = await startTestApp({ env });
  quiet = await startTestApp({ worker: false, monitorCommands: true, database: app.database, env });
  await upsert(app, {
    members: [
      { memberId: 'ann', name: 'Ann Lee', teamId: 'red', url: 'https://app.example/ann' },
      { memberId: 'bob', name: 'Bob <b>&amp;</b>' },
      { memberId: 'cid', name: 'Cid' },
    ],
    refs: [
      { ...POST, url: 'https://app.example/post?a=1&b=2' },
      { id: 'secret', type: 'deal', label: 'Purchase of Acme' },
    ],
    pairs: [
      { followerId: 'cid', refId: 'post/1' },
      { followerId: 'cid', refId: 'ann' },
    ],
  });
  published = await publish(app, {
    actorId: 'ann',
    scope: 'PUBLIC',
    refs: [POST],
    descriptor: {
      posted: {
        ...{ postId: 'post/1', postTitle: 'Launch', text: HOSTILE, tags: ['a<b>"&', 'plain'] },
        media: [
          { url: 'https://pictures.example/1.jpg?a=1&b=2', alt: '"A" <rocket>', width: 4, height: 3 },
          { url: 'https://pictures.example/plan.pdf', kind: 'FILE', alt: 'The plan' },
        ],
      },
    },
  });
  await publish(app, {
    actorId: 'bob',
    scope: 'PUBLIC',
    refs: [POST],
    descriptor: { liked: { objectId: 'post/1', objectType: 'post' } },
  });
  for (const scope of ['FOLLOWERS', 'TEAM', 'RESTRICTED'])
    await publish(app, {
      actorId: 'ann',
      scope,
      refs: [POST],
      ...(scope === 'RESTRICTED' ? { recipients: ['cid'] } : {}),
      descriptor: { posted: { postId: 'post/1', postTitle: 'Launch', text: `only ${scope}` } },
    });
  await publish(app, {
    actorId: 'ann',
    scope: 'FOLLOWERS',
    refs: [{ id: 'secret', type: 'deal', label: 'Purchase of Acme' }],
    descriptor: { posted: { postId: 'secret', postTitle: 'Purchase of Acme', text: 'not for everybody' } },
  });
  await app.idle();
});
afterAll(async () => {
  await quiet[Symbol.asyncDispose]();
  await app[Symbol.asyncDispose]();
});

interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

async function get(path: string, headers: Record<string, string> = {}, from = app): Promise<Got> {
  const response = await fetch(`${from.url}${path}`, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function newKey(sub: string, name = 'My reader'): Promise<{ path: string; id: string; key: string }> {
  const { createFeedKey } = await ask<{ createFeedKey: { url: string; key: { id: string } } }>(
    app,
    'mutation ($name: String!) { createFeedKey(name: $name) { url key { id name createdAt usedAt } } }',
    { name },
    { sub },
  );
  const url = new URL(createFeedKey.url);
  expect(url.origin).toBe(PUBLIC_URL);
  const key = url.searchParams.get('key') ?? '';
  return { path: url.pathname + url.search, id: createFeedKey.key.id, key };
}

/** What a request takes, without the signs of life of the process. */
async function costOf(path: string, headers: Record<string, string> = {}) {
  let got: Got | undefined;
  const commands = await commandsOf(quiet.app.database, async () => {
    got = await get(path, headers, quiet);
  });
  const names = commands.map(({ name, collection }) => `${name} ${collection}`);
  return {
    ...{ status: got?.status, text: got?.text, etag: got?.headers.get('etag') ?? '' },
    commands: names.filter((name) => !name.endsWith(' processes')),
  };
}

/** Throws where the text is no XML 1.0. */
function wellFormed(text: string): string {
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', (error) => {
    throw error;
  });
  parser.write(text).close();
  return text;
}

/** What a parser that is not ours finds in it. */
function entriesIn(format: (typeof FORMATS)[number], text: string) {
  switch (format) {
    case 'json': {
      const feed = parseJsonFeed(text);
      return { title: feed.title, items: feed.items?.map(({ id, title, url }) => ({ id, title, url })) };
    }
    case 'rss': {
      const feed = parseRssFeed(wellFormed(text));
      return {
        title: feed.title,
        items: feed.items?.map(({ guid, title, link }) => ({ id: guid?.value, title, url: link })),
      };
    }
    case 'atom': {
      const feed = parseAtomFeed(wellFormed(text));
      return {
        title: feed.title?.value,
        items: feed.entries?.map(({ id, title, links }) => ({ id, title, url: links?.[0]?.href })),
      };
    }
  }
}

test.each(FORMATS)('everybody reads the public actions of a ref as %s, and nothing else', async (format) => {
  const { status, headers, text } = await get(`/feeds/ref/post%2F1.${format}`);
  expect({ status, type: headers.get('content-type') }).toEqual({
    status: 200,
    type: `application/${format === 'json' ? 'feed+json' : `${format}+xml`}; charset=utf-8`,
  });
  expect(headers.get('cache-control')).toBe('public, max-age=60');
  const { title, items = [] } = entriesIn(format, text);
  expect(title).toBe('Launch & <i>more</i>');
  expect(items).toHaveLength(2);
  const [, first] = items;
  expect(first?.url).toBe('https://app.example/post?a=1&b=2');
  expect(first?.id).toBe(`${PUBLIC_URL}/actions/${encodeURIComponent(published)}`);
  expect(text).not.toContain('only ');
});

test.each(FORMATS)('texts of users are texts in %s, whatever is in them', async (format) => {
  const { text } = await get(`/feeds/ref/post%2F1.${format}`);
  const html =
    format === 'json'
      ? parseJsonFeed(text).items?.map(({ content_html: content }) => content)
      : format === 'rss'
        ? parseRssFeed(text).items?.map(({ content }) => content?.encoded)
        : parseAtomFeed(text).entries?.map(({ content }) => content?.value);
  const [liked = '', posted = ''] = (html ?? []).map(String);
  expect(posted).toContain(
    '&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quoted&quot; &#39;single&#39; ]]&gt; &lt;![CDATA[ ',
  );
  expect(posted).toContain('\uFFFD\uFFFD\uFFFD end');
  expect(posted).toContain('<a href="https://app.example/ann">Ann Lee</a>');
  expect(posted).toContain(
    '<img src="https://pictures.example/1.jpg?a=1&amp;b=2" alt="&quot;A&quot; &lt;rocket&gt;" width="4" height="3" />',
  );
  expect(posted).toContain('<a href="https://pictures.example/plan.pdf">The plan</a>');
  expect(liked).toContain('Bob &lt;b&gt;&amp;amp;&lt;/b&gt;');
});

/** Contents of an element, each time it is there. */
const inElement = (text: string, name: string): string[] =>
  [...text.matchAll(new RegExp(`<${name}(?: [^>]*)?>([^]*?)</${name}>`, 'g'))].map(([, inner = '']) => inner);
const attributesOf = (text: string, element: string): Record<string, string>[] =>
  [...text.matchAll(new RegExp(`<${element}((?: [\\w:]+="[^"]*")+) ?/?>`, 'g'))].map(([, all = '']) =>
    Object.fromEntries(
      [...all.matchAll(/([\w:]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
    ),
  );

test('RSS has what the specification and the validator of the W3C ask for', async () => {
  for (const path of ['/feeds/ref/post%2F1.rss', (await newKey('cid')).path.replace('.atom', '.rss')]) {
    const { text } = await get(path);
    const [channel = ''] = inElement(wellFormed(text), 'channel');
    const items = inElement(channel, 'item');
    const head = channel.replaceAll(/<item>[^]*?<\/item>/g, '');
    for (const name of ['title', 'link', 'description', 'lastBuildDate', 'language'])
      expect([name, inElement(head, name).map((inner) => inner !== '')]).toEqual([name, [true]]);
    expect(attributesOf(text, 'rss')[0]).toMatchObject({ version: '2.0' });
    // The address of a feed with a key is a secret, and in no feed.
    const self = { href: `${PUBLIC_URL}${path}`, rel: 'self', type: 'application/rss+xml' };
    expect(attributesOf(head, 'atom:link')).toEqual(path.includes('key') ? [] : [self]);
    expect(items.length).toBeGreaterThan(0);
    for (const item of items) {
      for (const name of ['title', 'link', 'guid', 'pubDate', 'dc:creator'])
        expect([name, inElement(item, name)]).toEqual([name, [expect.stringMatching(/./)]]);
      // What it is asked for is no page.
      expect(attributesOf(item, 'guid')).toEqual([{ isPermaLink: 'false' }]);
      expect(inElement(item, 'author')).toEqual([]);
    }
    const guids = inElement(channel, 'guid');
    expect(new Set(guids).size).toBe(guids.length);
    for (const date of [...inElement(channel, 'pubDate'), ...inElement(channel, 'lastBuildDate')])
      expect(new Date(date).toUTCString()).toBe(date);
  }
});

test('Atom has what RFC 4287 and the validator of the W3C ask for', async () => {
  for (const path of ['/feeds/ref/post%2F1.atom', (await newKey('cid')).path]) {
    const { text } = await get(path);
    const entries = inElement(wellFormed(text), 'entry');
    const head = text.replaceAll(/<entry>[^]*?<\/entry>/g, '');
    expect(attributesOf(text, 'feed')).toEqual([{ xmlns: 'http://www.w3.org/2005/Atom' }]);
    for (const name of ['title', 'id', 'updated'])
      expect([name, inElement(head, name)]).toEqual([name, [expect.stringMatching(/./)]]);
    expect(attributesOf(head, 'link').filter(({ rel }) => rel === 'self')).toEqual(
      path.includes('key') ? [] : [{ rel: 'self', href: `${PUBLIC_URL}${path}` }],
    );
    expect(entries.length).toBeGreaterThan(0);
    for (const entry of entries) {
      for (const name of ['title', 'id', 'updated', 'published', 'author', 'content'])
        expect([name, inElement(entry, name)]).toEqual([name, [expect.stringMatching(/./)]]);
      expect(inElement(inElement(entry, 'author').join(''), 'name')).toEqual([expect.stringMatching(/./)]);
      expect(
        attributesOf(entry, 'link').map(({ href = '' }) => URL.canParse(href.replaceAll('&amp;', '&'))),
      ).toEqual([true]);
      for (const { term } of attributesOf(entry, 'category')) expect(term).toMatch(/./);
    }
    const ids = inElement(text, 'id');
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !URL.canParse(id))).toEqual([]);
    for (const date of [...inElement(text, 'updated'), ...inElement(text, 'published')])
      expect(date).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/);
  }
});

test('JSON Feed has what its version asks for', async () => {
  const path = '/feeds/ref/post%2F1.json';
  const feed = JSON.parse((await get(path)).text) as {
    readonly items: readonly Readonly<Record<string, unknown>>[];
  };
  expect(feed).toMatchObject({
    version: 'https://jsonfeed.org/version/1',
    title: POST.label,
    feed_url: `${PUBLIC_URL}${path}`,
  });
  expect(feed.items.length).toBeGreaterThan(0);
  const text: unknown = expect.stringMatching(/./);
  for (const item of feed.items)
    expect(item).toMatchObject({
      id: text,
      url: text,
      content_html: text,
      date_published: text,
      author: { name: text },
    });
  expect(new Set(feed.items.map(({ id }) => id)).size).toBe(feed.items.length);
});

test('any text of a post makes a feed that is well-formed', async () => {
  const { written } = await import('../../src/formats.ts');
  const anything = fc.string({ unit: 'binary', maxLength: 40 }).filter((text) => text.isWellFormed());
  fc.assert(
    fc.property(
      fc.array(anything, { minLength: 6, maxLength: 6 }),
      ([a = '', b = '', c = '', d = '', e = '', f = '']) => {
        const page = { url: 'https://app.example/?a=1&b="<>' };
        const entries = {
          ...{ title: a, url: null },
          entries: [
            {
              ...{ id: 'QWN0aW9uOjE=', conducted: '2026-01-01T00:00:00.000Z', editedAt: null },
              actor: { memberId: 'm', name: b, url: page.url },
              refs: [{ refId: 'r', type: 'post', label: d, ...page }],
              content: {
                rating: null,
                media: [{ url: page.url, alt: e, kind: 'PICTURE', width: null, height: null }],
              },
              descriptor: {
                type: 'A',
                tags: [c],
                summaryParts: [{ text: d, member: page, ref: null }],
                text_A_b: e,
                text_A_c: f,
              },
            },
          ],
        };
        for (const format of FORMATS)
          entriesIn(format, written(entries, format, { url: PUBLIC_URL, self: null, locale: 'en' }));
      },
    ),
  );
});

test('sentences are in the language that is asked for', async () => {
  const titles = async (path: string, headers = {}) =>
    parseJsonFeed((await get(path, headers)).text).items?.map(({ title }) => title);
  const german = await titles('/feeds/ref/post%2F1.json?lang=de');
  expect(german).not.toEqual(await titles('/feeds/ref/post%2F1.json'));
  expect(await titles('/feeds/ref/post%2F1.json', { 'accept-language': 'de-AT,de;q=0.9' })).toEqual(german);
});

test('a ref without public actions is not there, whether or not it is anything', async () => {
  for (const id of ['secret', 'nothing', '%F0%9F%98%80'])
    expect(await get(`/feeds/ref/${id}.rss`)).toMatchObject({ status: 404 });
  const [secret, nothing] = [await get('/feeds/ref/secret.rss'), await get('/feeds/ref/nothing.rss')];
  expect(secret.text).toBe(nothing.text);
});

test.each(FORMATS)('a key opens the own feed of its member as %s', async (format) => {
  const { key } = await newKey('cid');
  const { status, headers, text } = await get(`/feeds/me.${format}?key=${key}`);
  expect({ status, cache: headers.get('cache-control') }).toEqual({
    status: 200,
    cache: 'private, max-age=60',
  });
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  const { title, items = [] } = entriesIn(format, text);
  expect(title).toBe('Cid');
  const shown = await ask<{ feed: { edges: { node: { action: { id: string } } }[] } }>(
    app,
    '{ feed(order: RECENT) { edges { node { action { id } } } } }',
    {},
    { sub: 'cid' },
  );
  expect(items.map(({ id }) => id)).toEqual(
    shown.feed.edges.map(({ node }) => `${PUBLIC_URL}/actions/${encodeURIComponent(node.action.id)}`),
  );
  expect(text).toContain('only RESTRICTED');
  expect(text).not.toContain(key);
});

test('who has a feed gets 304, without a command and without its text', async () => {
  const { path } = await newKey('cid');
  for (const one of [path, '/feeds/ref/post%2F1.atom']) {
    const { etag } = await costOf(one);
    for (const given of [etag, `"other", W/${etag}`])
      expect(await costOf(one, { 'if-none-match': given })).toMatchObject({
        ...{ status: 304, text: '', commands: [] },
      });
    expect(await costOf(one, { 'if-none-match': '"other"' })).toMatchObject({ status: 200, commands: [] });
  }
});

test('a feed is the same for another process, so that its ETag is known there too', async () => {
  const etag = (await get('/feeds/ref/post%2F1.rss')).headers.get('etag') ?? '';
  expect(await get('/feeds/ref/post%2F1.rss', { 'if-none-match': etag }, quiet)).toMatchObject({
    status: 304,
  });
});

test('a revoked key opens nothing, and only its member revokes it', async () => {
  const { path, id } = await newKey('cid');
  expect(await get(path)).toMatchObject({ status: 200 });
  const revoke = 'mutation ($id: ID!) { revokeFeedKey(id: $id) { feedKeys { id } } }';
  await ask(app, revoke, { id }, { sub: 'ann' });
  expect(await get(path)).toMatchObject({ status: 200 });
  const { revokeFeedKey } = await ask<{ revokeFeedKey: { feedKeys: { id: string }[] } }>(
    app,
    revoke,
    { id },
    { sub: 'cid' },
  );
  expect(revokeFeedKey.feedKeys.map((one) => one.id)).not.toContain(id);
  expect(await get(path)).toMatchObject({ status: 404 });
  await ask(app, revoke, { id }, { sub: 'cid' });
});

test('without a key, or with one that is nobody’s, nothing of a feed is read', async () => {
  expect(await costOf('/feeds/me.json')).toMatchObject({ status: 401, commands: [] });
  expect(await costOf('/feeds/me.json?key=short')).toMatchObject({ status: 404, commands: [] });
  const unknown = `/feeds/me.json?key=${'A'.repeat(43)}`;
  expect(await costOf(unknown)).toMatchObject({ status: 404, commands: ['find feedKeys'] });
});

test('keys are listed by name, stored as a digest, and never logged', async () => {
  const { key, path } = await newKey('dan', 'Tablet');
  await get(path);
  const { viewer } = await ask<{ viewer: { feedKeys: { name: string; usedAt: string | null }[] } }>(
    app,
    '{ viewer { feedKeys { id name createdAt usedAt } } }',
    {},
    { sub: 'dan' },
  );
  expect(viewer.feedKeys).toMatchObject([{ name: 'Tablet', usedAt: expect.any(String) as string }]);
  const stored = await app.app.database.collections.feedKeys.find().toArray();
  expect(JSON.stringify(stored)).not.toContain(key);
  expect(app.log.join('\n')).not.toContain(key);
});

test('a member has at most 20 keys, with names that can be read', async () => {
  const make = 'mutation ($name: String!) { createFeedKey(name: $name) { url } }';
  for (let n = 0; n < 20; n++) await newKey('eve', `Reader ${String(n)}`);
  const codes = async (name: string, sub: string) =>
    (await app.query(make, { name }, { sub })).errors.map(({ extensions }) => extensions.code);
  expect(await codes('One more', 'eve')).toEqual(['CONFLICT']);
  for (const name of ['', ' ', 'a\nb', 'x'.repeat(101)])
    expect(await codes(name, 'fay')).toEqual(['BAD_USER_INPUT']);
});

test('a feed is only read', async () => {
  expect((await fetch(`${app.url}/feeds/me.json`, { method: 'POST', body: 'x' })).status).toBe(405);
});

test('off, there is no path, and no key can be made', async () => {
  await using without = await startTestApp({ worker: false });
  expect((await fetch(`${without.url}/feeds/ref/post%2F1.json`)).status).toBe(404);
  const { errors } = await without.query('mutation { createFeedKey(name: "x") { url } }');
  expect(errors.map(({ extensions }) => extensions.code)).toEqual(['CONFLICT']);
});
