import type { HTTPRequest, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clickOn, fillIn, findBrowser, textOf, type Visit } from '../support/browser.ts';
import {
  CONSOLE_ROLES,
  WAIT,
  axeViolations,
  axeViolationsInBoth,
  choose,
  click,
  has,
  openConsole,
  picture,
  type ConsoleWorld,
} from '../support/console.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { hugePage } from '../support/huge-feed.ts';
import { isLeftOut } from '../support/needed.ts';
import { scrollBySteps } from '../support/smoothness.ts';
import { scrollThrough } from '../support/stillness.ts';

const found = await findBrowser();
let world: ConsoleWorld;

const visit = (path = ''): Promise<Visit> => world.visit(path);
/** Articles that begin above the end of the one before them. */
const OVERLAPS = `[...document.querySelectorAll('article')].map((one) => one.getBoundingClientRect())
  .filter(({ top }, at, all) => at > 0 && top < all[at - 1].bottom - 1).length`;
const SCREENS = [
  'feed',
  'notifications',
  'publish',
  'directory',
  'slice/john',
  'types',
  'moderation',
  'deliveries',
] as const;

/** Posts as John, whom both readers follow; gives the global id. The summary has the title. */
const post = (title: string): Promise<string> => publish(world.app, rowOf(title));
const rowOf = (title: string) => ({
  actorId: 'john',
  descriptor: { posted: { postId: `post:${title}`, postTitle: title } },
});

/** On a phone the screens used most are at its lower end, all of them in view. */
const BAR_IN_VIEW = `[...document.querySelectorAll('.bar > *')].every((one) => {
  const { left, right, top, bottom } = one.getBoundingClientRect();
  return left >= 0 && right <= innerWidth && right > left && top > innerHeight - 80 && bottom <= innerHeight;
})`;

describe.skipIf(isLeftOut(typeof found !== 'string'))('the console', () => {
  beforeAll(async () => {
    world = await openConsole(found);
    await upsert(world.app, {
      pairs: ['demo', 'rita'].map((followerId) => ({ followerId, refId: 'john' })),
    });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test('is signed in for the user who started the server, and shows the delivery of what they publish in its form', async () => {
    await using visited = await visit();
    const { page, asked, errors } = visited;
    await has(page, 'Home', 'h1');
    await clickOn(page, 'a[href="#/publish"]');
    await fillIn(page, '#kind', 'posted');
    await fillIn(page, '.publish [name="postId"]', 'post:1');
    await fillIn(page, '.publish [name="mentions"]', 'demo, rita');
    await click(page, 'Publish');
    // Under the form it is seen to arrive.
    await has(page, 'Delivered', '[role="status"]');
    await has(page, 'reached 2 readers');
    await clickOn(page, '::-p-xpath(//a[contains(., "What was published")])');
    await has(page, 'In this feed');
    await clickOn(page, 'a[href="#/feed"]');
    await has(page, 'demo', '[role="feed"]');
    await click(page, 'UTC');
    const moment = await page.evaluate(
      "(([time]) => [time.dateTime.slice(0, 19).replace('T', ' ') + ' UTC', time.title])(document.querySelectorAll('article time'))",
    );
    expect(new Set(moment as string[]).size, String(moment)).toBe(1);
    await click(page, 'UTC');
    // Nothing but this server was asked, and no address has the token. Nobody is asked for data: the browser brings its own symbols.
    const others = asked.filter((url) => !url.startsWith('data:'));
    expect(others.filter((url) => new URL(url).host !== new URL(world.server.url).host)).toEqual([]);
    const token = await world.app.token('demo', [...CONSOLE_ROLES]);
    expect(asked.join('\n')).not.toContain(token.split('.')[0]);
    expect(errors).toEqual([]);
  });

  test('forbids inline and foreign code, and its page contains none', async () => {
    const response = await fetch(`${world.server.url}/console`);
    const [policy, html] = [response.headers.get('content-security-policy') ?? '', await response.text()];
    expect(policy).toContain("default-src 'none'; script-src 'self'");
    expect(policy).not.toContain('unsafe');
    expect(html).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=|style=/);
    // Filled in for who started the server, and for nobody who comes by a proxy.
    expect(html).toMatch(/name="fanfare-token" content="ey/);
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    expect(await (await fetch(`${world.server.url}/console`, { headers })).text()).toContain('content=""');
    expect((await fetch(`${world.server.url}/console/../package.json`)).status).toBe(404);
    expect((await fetch(`${world.server.url}/console/%2e%2e/package.json`)).status).toBe(404);
  });

  test("shows two readers each other's changes, and keeps a token only in its tab", async () => {
    await using first = await visit();
    await using second = await visit();
    await click(second.page, 'Sign out');
    await fillIn(second.page, 'textarea', 'nonsense');
    await click(second.page, 'Sign in');
    await has(second.page, 'That is not a token');
    await fillIn(second.page, 'textarea', `authorization: Bearer ${await world.app.token('rita')}`);
    await click(second.page, 'Sign in');
    await has(second.page, 'rita', 'header');
    await has(second.page, 'Reader', 'header');
    expect(await textOf(first.page, 'header')).not.toContain('Reader');
    expect(await second.page.evaluate('localStorage.length')).toBe(0);
    // Without the roles there is nothing to moderate.
    expect(await textOf(second.page, 'nav')).not.toContain('Moderation');
    // Under a pointer nothing moves: what is new would wait.
    await second.page.mouse.move(1, 1);
    await post('Kestrel');
    for (const { page } of [first, second]) await has(page, 'Kestrel', '[role="feed"]');
    await clickOn(second.page, '::-p-xpath((//article)[1]//button[contains(., "Like")])');
    const pressed = (page: Page) => textOf(page, 'article:first-child [aria-pressed]');
    await expect.poll(() => pressed(second.page), WAIT).toContain('Like 1');
    await first.page.reload();
    await expect.poll(() => pressed(first.page), WAIT).toContain('Like 1');
    await choose(second.page, 'Hide');
    await has(second.page, 'Hidden', 'body');
    await expect.poll(() => textOf(second.page, '[role="feed"]'), WAIT).not.toContain('Kestrel');
    await click(second.page, 'Undo');
    await expect
      .poll(() => textOf(second.page, '[role="feed"], [data-fanfare="new-items"]'), WAIT)
      .toMatch(/Kestrel|1 new/);
  });

  test('counts what concerns the reader beside Notifications while they look at their feed; what is shown there is seen', async () => {
    const id = await publish(world.app, { ...rowOf('Shrike'), actorId: 'demo', mentions: ['rita'] });
    await using visited = await visit();
    const { page, errors } = visited;
    await ask(
      world.app,
      'mutation ($id: ID!) { addInteraction(input: { actionId: $id, kind: COMMENT, text: "Well spotted" }) { interaction { id } } }',
      { id },
      { sub: 'rita' },
    );
    const count = (): Promise<string> =>
      textOf(page, '.rail a[href="#/notifications"] [data-fanfare="unread-badge"]');
    await expect.poll(count, WAIT).toBe('1');
    await clickOn(page, '.rail a[href="#/notifications"]');
    await has(page, 'Well spotted', '[role="feed"]');
    await expect
      .poll(() => page.$('.rail a[href="#/notifications"] [data-fanfare="unread-badge"]'), WAIT)
      .toBeNull();
    await picture(page, 'notifications');
    await clickOn(page, '[role="feed"] [data-fanfare="open"]');
    await has(page, 'Action', 'h1');
    await has(page, 'Shrike', 'main');
    expect(errors).toEqual([]);
  });

  test('shows that the server is down, and later what happened meanwhile', async () => {
    await post('Before');
    await world.app.idle();
    await using visited = await visit();
    const { page } = visited;
    await has(page, 'Before', '[role="feed"]');
    await world.server.close();
    await has(page, 'Connecting again', 'body');
    await post('Meanwhile');
    await world.app.idle();
    await world.serveAgain();
    // It may have tried on its own meanwhile, and then there is nothing to press any more.
    await page.evaluate("document.querySelector('[data-fanfare=connection] button')?.click()");
    await has(page, 'Meanwhile', '[role="feed"]');
    expect(await textOf(page, '[data-fanfare="connection"]')).toBe('');
  });

  test('hides several actions with a reason and shows them again, and deletes after confirmation', async () => {
    const ids = [await post('Spam A'), await post('Spam B')];
    await using visited = await visit('#/moderation');
    const { page } = visited;
    await has(page, 'Spam B');
    for (const title of ['Spam A', 'Spam B'])
      await clickOn(page, `::-p-xpath(//li[contains(., "${title}")]//input)`);
    await fillIn(page, '::-p-xpath(//label[contains(., "Reason")]/input)', 'It is spam');
    await click(page, 'Hide 2');
    await has(page, '2 hidden');
    await has(page, 'It is spam');
    const hidden = async () =>
      (
        await ask<{ nodes: ({ isHidden: boolean } | null)[] }>(
          world.app,
          '{ nodes(ids: ["' + ids.join('", "') + '"]) { ... on Action { isHidden } } }',
          {},
          { sub: 'demo', roles: ['admin'] },
        )
      ).nodes.map((node) => node?.isHidden);
    expect(await hidden()).toEqual([true, true]);
    await click(page, 'Undo');
    await expect.poll(hidden, WAIT).toEqual([false, false]);
    await clickOn(page, '::-p-xpath(//li[contains(., "Spam A")]//input)');
    await click(page, 'Delete …');
    await clickOn(page, '[role="alertdialog"] button.main');
    await expect.poll(hidden, WAIT).toEqual([undefined, false]);
  });

  test('shows work in progress, and rebuilds a feed', async () => {
    await using visited = await visit('#/deliveries');
    const { page } = visited;
    await fillIn(page, 'input[name="member"]', 'rita');
    await click(page, 'Rebuild');
    await has(page, 'The feed of rita has been rebuilt');
    await fillIn(page, 'input[name="member"]', 'nobody');
    await click(page, 'Rebuild');
    await has(page, 'Nothing is known of such a member');
    await clickOn(page, 'a[href="#/overview"]');
    await has(page, 'Watchers');
    await has(page, 'This server: ready');
    await has(page, 'The past hour of all processes, by 10 s');
    await has(
      page,
      'Feed model: items, stored as one document for each entry, the newest 1,000 of each feed',
    );
  });

  test('restores the feed when the reader comes back from an action, without a request, and new items wait', async () => {
    const inputs = Array.from({ length: 30 }, (_, n) => rowOf(`Row ${String(n)}`));
    await ask(
      world.app,
      'mutation ($inputs: [PublishActionInput!]!) { publishActions(inputs: $inputs) { isReplay } }',
      { inputs },
    );
    await world.app.idle();
    await using visited = await visit('#/feed');
    const { page, errors } = visited;
    await has(page, 'Row 29', '[role="feed"]');
    await page.evaluate('window.scrollTo(0, 1500)');
    await has(page, 'Row 14', '[role="feed"]');
    // Where it was scrolled to is drawn a frame later.
    const first = `new Promise((resolve) => {
      const look = () => {
        const article = [...document.querySelectorAll('article')].find((one) => one.getBoundingClientRect().top > 100);
        if (article === undefined) requestAnimationFrame(look);
        else resolve([article.dataset.item, article.getBoundingClientRect().top]);
      };
      requestAnimationFrame(() => requestAnimationFrame(look));
    })`;
    const [item, top] = (await page.evaluate(first)) as [string, number];
    await clickOn(page, `article[data-item="${item}"] .line > a`);
    await has(page, 'Why it is in a feed');
    expect(await page.evaluate('scrollY')).toBe(0);
    await post('Sparrow');
    await world.app.idle();
    const drawn = await page.evaluate(`new Promise((resolve) => {
      addEventListener('hashchange', () => requestAnimationFrame(() => {
        const article = document.querySelector('[data-item="${item}"]');
        resolve(article?.getBoundingClientRect().top ?? 'not there');
      }), { once: true });
      history.back();
    })`);
    expect(Math.abs(Number(drawn) - top)).toBeLessThanOrEqual(1);
    await has(page, '1 new', '[data-fanfare="new-items"]');
    const [, after] = (await page.evaluate(first)) as [string, number];
    expect(Math.abs(after - top)).toBeLessThanOrEqual(1);
    expect(errors).toEqual([]);
  });

  test('keeps only the visible part of a feed of 10,000 in the page while it is scrolled, and is never blank', async () => {
    await using visited = await visit('#/publish');
    const { page } = visited;
    const { feed } = await ask<{ feed: { liveCursor: string } }>(
      world.app,
      '{ feed { liveCursor } }',
      {},
      { sub: 'demo' },
    );
    await page.setRequestInterception(true);
    page.on('request', (request) => void answer(request));
    async function answer(request: HTTPRequest): Promise<void> {
      const text = request.hasPostData() ? await request.fetchPostData() : undefined;
      const { query = '', variables = {} } = JSON.parse(text ?? '{}') as {
        query?: string;
        variables?: { after?: string };
      };
      if (!query.startsWith('query Feed')) await request.continue();
      else
        await request.respond({
          contentType: 'application/json',
          body: JSON.stringify({ data: { feed: hugePage(Number(variables.after ?? 0), feed.liveCursor) } }),
        });
    }
    await clickOn(page, 'a[href="#/feed"]');
    await has(page, 'Huge 0', '[role="feed"]');
    const toEnd = () => page.evaluate('window.scrollTo(0, document.body.scrollHeight)');
    await expect
      .poll(async () => {
        await toEnd();
        return textOf(page, '[role="feed"]');
      }, WAIT)
      .toContain('Huge 9999');
    await has(page, 'That is all.');
    const { articles, nodes, blank } = await scrollThrough(page, 60);
    expect(articles).toBeLessThan(60);
    expect(nodes).toBeLessThan(1_500);
    expect(blank).toBe(0);
    await page.evaluate('scrollTo(0, document.body.scrollHeight / 2)');
    const scrolled = await scrollBySteps(page, 60, 100);
    process.stdout.write(`Scrolling 10,000 items, a step at most: ${JSON.stringify(scrolled)}\n`);
    // A row of 116 pixels comes, another goes; the rest of the list is neither drawn nor laid out again.
    expect(scrolled.added).toBeGreaterThan(0);
    expect(scrolled.added).toBeLessThanOrEqual(4);
    expect(scrolled.removed).toBeLessThanOrEqual(4);
    expect(scrolled.changes).toBeLessThan(30);
    expect(scrolled.layoutsPerStep).toBeLessThan(5);
    expect(scrolled.dirtyObjects).toBeLessThan(300);
  });

  test('has no axe-core violation on any screen, light and dark', async () => {
    const id = await post('For all to see');
    await world.app.idle();
    await using visited = await visit();
    const { page, errors } = visited;
    const found: Record<string, Record<string, string[]>> = {};
    for (const screen of [...SCREENS, `action/${encodeURIComponent(id)}`]) {
      await page.evaluate(`location.hash = '#/${screen}'`);
      await expect.poll(() => page.$('main .loading, [data-fanfare="skeleton"]'), WAIT).toBeNull();
      expect(await page.$('details.as-code'), screen).not.toBeNull();
      const wrong = await axeViolationsInBoth(page, (value) =>
        picture(page, `${screen.split('/')[0] ?? ''}-${value}`),
      );
      if (Object.keys(wrong).length > 0) found[screen] = wrong;
      await page.setViewport({ width: 390, height: 780 });
      if (screen === 'feed') await expect.poll(() => page.evaluate(OVERLAPS), WAIT).toBe(0);
      await expect.poll(() => page.evaluate(BAR_IN_VIEW), WAIT).toBe(true);
      await picture(page, `${screen.split('/')[0] ?? ''}-phone`);
      expect(await page.evaluate('document.documentElement.scrollWidth'), screen).toBeLessThanOrEqual(390);
      await page.setViewport({ width: 1100, height: 760 });
    }
    await click(page, 'Sign out');
    await has(page, 'Sign in to Fanfare');
    const wrong = await axeViolations(page);
    if (wrong.length > 0) found['sign in'] = { dark: wrong };
    expect(found).toEqual({});
    expect(errors).toEqual([]);
  });
});
