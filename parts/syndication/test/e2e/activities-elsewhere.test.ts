import { Activity, Create, Like, Object as Thing, OrderedCollection } from '@fedify/fedify/vocab';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type ActivityWorld,
  actionPath,
  MANY,
  openActivityWorld,
  OUTBOX,
  POST,
  PUBLIC_URL,
} from '../../../../test/support/activity-world.ts';

// ActivityStreams 2.0, read by a parser that is not ours.

let world: ActivityWorld;
beforeAll(async () => {
  world = await openActivityWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** Reads what its own addresses lead to from the server of the test. */
async function documentLoader(url: string) {
  if (!url.startsWith(PUBLIC_URL)) throw new Error(`${url} is not of the server`);
  const { status, text } = await world.get(url.slice(PUBLIC_URL.length));
  if (status !== 200) throw new Error(`${url} answers ${String(status)}`);
  return { contextUrl: null, document: JSON.parse(text) as unknown, documentUrl: url };
}
const LOADER = { documentLoader };

test('a public action is an activity that another reads, by the address that feeds have as its id', async () => {
  const { status, headers, text } = await world.get(actionPath(world.posted));
  expect({ status, type: headers.get('content-type'), cache: headers.get('cache-control') }).toEqual({
    ...{ status: 200, type: 'application/activity+json; charset=utf-8', cache: 'public, max-age=60' },
  });
  const activity = await Activity.fromJsonLd(JSON.parse(text), LOADER);
  expect(activity).toBeInstanceOf(Create);
  expect(activity.id?.href).toBe(`${PUBLIC_URL}${actionPath(world.posted)}`);
  expect(activity.published?.toString()).toBe('2026-01-02T03:04:05.678Z');
  expect(activity.toId?.href).toBe('https://www.w3.org/ns/activitystreams#Public');
  const actor = await activity.getActor(LOADER);
  expect([actor?.id?.href, String(actor?.name), actor?.url]).toEqual([
    ...[`${PUBLIC_URL}/refs/ann`, 'Ann <b>Lee</b>', new URL('https://app.example/ann')],
  ]);
  const about = await activity.getObject(LOADER);
  expect([about?.id?.href, String(about?.name), String(about?.content)]).toEqual([
    `${PUBLIC_URL}/refs/post%2F1`,
    POST.label,
    '<p>&lt;script&gt;alert(1)&lt;/script&gt;<br />line</p>',
  ]);
  expect((await activity.getTarget(LOADER))?.id?.href).toBe(`${PUBLIC_URL}/refs/room`);
  expect(String(activity.summary)).toContain('Ann &lt;b&gt;Lee&lt;/b&gt;</a> posted ');
});

test('the outbox of a ref has its public actions in pages, which another walks through', async () => {
  const collection = await Thing.fromJsonLd(JSON.parse((await world.get(OUTBOX)).text), LOADER);
  if (!(collection instanceof OrderedCollection)) throw new Error('It is no collection');
  const found: Thing[] = [];
  const first = await collection.getFirst(LOADER);
  for await (const item of first?.getItems(LOADER) ?? []) if (item instanceof Thing) found.push(item);
  expect(found.map(({ constructor: { name } }) => name)).toEqual([
    ...['Undo', 'Activity', 'Announce', 'Like', 'Create'],
  ]);
  expect(found[3]).toBeInstanceOf(Like);
  expect((await world.get(`${OUTBOX}?page=1`)).text).not.toContain('only ');

  const busy = await Thing.fromJsonLd(JSON.parse((await world.get('/refs/busy/outbox')).text), LOADER);
  const ids: string[] = [];
  let page = await (busy as OrderedCollection).getFirst(LOADER);
  let pages = 0;
  for (; page !== null; page = await page.getNext(LOADER)) {
    pages += 1;
    for await (const item of page.getItems(LOADER)) ids.push(item.id?.href ?? '');
  }
  expect({ pages, ids: new Set(ids).size }).toEqual({ pages: 3, ids: MANY });
});
