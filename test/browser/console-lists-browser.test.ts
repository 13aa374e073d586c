import { addressDigest } from '../../parts/mail/src/store.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkHostConfig, defineConfig } from '../../src/descriptors/host-config.ts';
import { useDescriptors } from '../../src/descriptors/registry.ts';
import { checkViews } from '../../src/feed/page/views.ts';
import { clickOn, fillIn, findBrowser, textOf } from '../support/browser.ts';
import {
  axeViolationsInBoth,
  click,
  has,
  openConsole,
  picture,
  WAIT,
  type ConsoleWorld,
} from '../support/console.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { isLeftOut } from '../support/needed.ts';
import { openShared } from '../support/spare-databases.ts';

const found = await findBrowser();
const HOUR_MS = 3_600_000;
/** A mail server that nobody is to be sent anything by. */
const MAILS = {
  ...{ MAIL_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'feed@app.example', MAIL_LINK: 'https://app.example/' },
  PUBLIC_URL: 'https://feed.example',
};

describe.skipIf(isLeftOut(typeof found !== 'string'))('lists in the console', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    const views = {
      posts: { label: { en: 'Posts' }, filter: { types: ['Posted'] } },
      likes: { label: { en: 'Likes' }, filter: { types: ['Liked'] } },
    };
    useDescriptors(checkHostConfig(defineConfig({ views }), import.meta.url));
    checkViews();
    world = await openConsole(found, undefined, MAILS);
    await upsert(world.app, {
      members: [{ memberId: 'rita', name: 'Rita Moreau' }],
      pairs: ['john', 'office'].map((refId) => ({ followerId: 'demo', refId })),
    });
    for (const title of ['Owl at night', 'Owl by day', 'Fox at night'])
      await publish(world.app, {
        actorId: 'john',
        descriptor: { posted: { postId: title, postTitle: title } },
      });
    const mine = 'mutation { createList(name: "Close ones", isExclusive: false) { id } }';
    const { createList } = await ask<{ createList: { id: string } }>(world.app, mine, {}, { sub: 'demo' });
    await ask(
      world.app,
      'mutation ($id: ID!) { addToList(id: $id, refIds: ["office"]) { id } }',
      { id: createList.id },
      { sub: 'demo' },
    );
    await world.app.idle();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test('the feed is searched, the result says how many there are, and the address keeps it', async () => {
    await using visited = await world.visit('#/feed');
    const { page, errors } = visited;
    await has(page, 'Fox at night', '[role="feed"]');
    await fillIn(page, 'input[name="text"]', 'nigh owl');
    await page.focus('input[name="text"]');
    await page.keyboard.press('Enter');
    await has(page, 'Nothing.', '[data-fanfare="empty"]');
    await fillIn(page, 'input[name="text"]', 'owl nig');
    await page.keyboard.press('Enter');
    await has(page, '1 found', '.marks [role="status"]');
    expect(await textOf(page, '[role="feed"]')).toContain('Owl at night');
    await picture(page, 'console-find');
    await page.reload();
    await has(page, '1 found', '.marks [role="status"]');
    expect(await axeViolationsInBoth(page)).toEqual({});
    expect(errors).toEqual([]);
  });

  test('views and lists stand above the feed with what is unread of each', async () => {
    await using visited = await world.visit('#/feed');
    const { page, errors } = visited;
    const picker = 'nav[aria-label="Views"]';
    await has(page, 'Posts 3', picker);
    await has(page, 'Close ones', picker);
    expect(await textOf(page, picker)).toMatch(/Everything.*Posts 3.*Likes.*Close ones/s);
    await clickOn(page, `::-p-xpath(//nav[@aria-label="Views"]//a[contains(., "Likes")])`);
    await has(page, 'Nothing', '[data-fanfare="empty"]');
    await clickOn(page, `::-p-xpath(//nav[@aria-label="Views"]//a[contains(., "Close ones")])`);
    await expect.poll(() => page.evaluate('location.hash'), WAIT).toContain('list=');
    await publish(world.app, {
      actorId: 'john',
      refs: [{ id: 'office', type: 'place', label: 'Office' }],
      descriptor: { posted: { postId: 'inside', postTitle: 'From the office' } },
    });
    await has(page, 'From the office', '[role="feed"], [data-fanfare="new-items"]');
    await clickOn(page, `::-p-xpath(//nav[@aria-label="Views"]//a[contains(., "Posts")])`);
    await has(page, 'Fox at night', '[role="feed"]');
    await has(page, 'Posts 4', picker);
    await picture(page, 'console-views');
    expect(await axeViolationsInBoth(page)).toEqual({});
    expect(errors).toEqual([]);
  });

  test("a member's page says why they are sent no mails, and they begin again", async () => {
    const { mailboxes } = (await openShared(world.app.database)).collections;
    await ask(
      world.app,
      'mutation { upsertMembers(members: [{ memberId: "demo", name: "Demo", email: "demo@people.example" }]) }',
    );
    await using calm = await world.visit('#/member/demo');
    await has(calm.page, 'What is stored', 'h2');
    expect(await textOf(calm.page, 'main')).not.toContain('Mails');
    const off = {
      ...{ address: addressDigest('demo@people.example'), reason: 'BOUNCED' as const, error: '550 5.1.1' },
    };
    await mailboxes.updateOne(
      { _id: 'demo' },
      { $set: { off: { ...off, at: new Date() }, digestsOffAt: new Date() } },
      { upsert: true },
    );
    await using visited = await world.visit('#/member/demo');
    const { page, errors } = visited;
    await has(page, 'A mail came back for good. 550 5.1.1');
    await has(page, 'They have unsubscribed from digests');
    await picture(page, 'console-mails');
    expect(await axeViolationsInBoth(page)).toEqual({});
    await click(page, 'Send mails again');
    await expect.poll(() => textOf(page, 'main'), WAIT).not.toContain('Send mails again');
    expect(await mailboxes.findOne({ _id: 'demo' })).toEqual({ _id: 'demo' });
    expect(errors).toEqual([]);
  });

  test("a member's lists are at their page", async () => {
    await using visited = await world.visit('#/member/demo');
    const { page, errors } = visited;
    await click(page, 'Show');
    await has(page, 'Close ones', 'ul[aria-label="Lists"]');
    expect(await textOf(page, 'ul[aria-label="In the list"]')).toBe('office');
    expect(errors).toEqual([]);
  });

  test('what is scheduled is listed, moved and cancelled', async () => {
    const later = (hours: number): string => new Date(Date.now() + hours * HOUR_MS).toISOString();
    for (const [n, title] of ['Soon', 'Later'].entries())
      await publish(world.app, {
        ...{ actorId: 'john', publishAt: later(n + 1) },
        descriptor: { posted: { postId: title, postTitle: title } },
      });
    await using visited = await world.visit('#/publish');
    const { page, errors } = visited;
    const list = 'ul[aria-label="Scheduled"]';
    await has(page, 'Later', list);
    const move = '::-p-xpath(//li[contains(., "Soon")]//button[. = "Move"])';
    await clickOn(page, move);
    await fillIn(page, `${list} input`, later(5_000).slice(0, 16));
    await picture(page, 'console-scheduled');
    expect(await axeViolationsInBoth(page)).toEqual({});
    await clickOn(page, move);
    const order = async () =>
      (await page.$$eval(`${list} a`, (all) => all.map(({ textContent }) => textContent))).map((text) =>
        text.includes('Soon') ? 'Soon' : 'Later',
      );
    await expect.poll(order, WAIT).toEqual(['Later', 'Soon']);
    await clickOn(page, '::-p-xpath(//li[contains(., "Soon")]//button[contains(., "Cancel")])');
    await click(page, 'Cancel it');
    await expect.poll(order, WAIT).toEqual(['Later']);
    // One more, by the form.
    await fillIn(page, '#publishAt', later(6_000).slice(0, 16));
    await fillIn(page, '[name="postTitle"]', 'By hand');
    await clickOn(page, 'form.publish button[type="submit"]');
    await has(page, 'By hand', list);
    expect(errors).toEqual([]);
  });
});
