import type { KeyInput, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clickOn, fillIn, findBrowser } from '../support/browser.ts';
import { click, axeViolationsInBoth, has, openConsole, WAIT, type ConsoleWorld } from '../support/console.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { isLeftOut } from '../support/needed.ts';
import { noteShifts, takeShifts } from '../support/stillness.ts';

const found = await findBrowser();
/** The first article in view below the head, and where it is. */
const FIRST = `(() => { const article = [...document.querySelectorAll('article')].find((one) =>
  one.getBoundingClientRect().top > 200); return [article.dataset.item, article.getBoundingClientRect().top]; })()`;
/** Scrolls and follows the link at once: no event has said yet that it was scrolled. */
const LEAVE_AT_ONCE = `(() => {
  scrollBy(0, -130);
  const at = ${FIRST};
  document.querySelector('[data-item="' + at[0] + '"] .line > a').click();
  return at;
})()`;

describe.skipIf(isLeftOut(typeof found !== 'string'))('the feed of the console', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await openConsole(found);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const rowOf = (title: string) => ({
    actorId: 'john',
    descriptor: { posted: { postId: `post:${title}`, postTitle: title } },
  });
  const post = (title: string): Promise<string> => publish(world.app, rowOf(title));
  const follow = (): Promise<void> => upsert(world.app, { pairs: [{ followerId: 'demo', refId: 'john' }] });
  const postAll = async (name: string, count: number): Promise<void> => {
    const inputs = Array.from({ length: count }, (_, n) => rowOf(`${name} ${String(n)}.`));
    await ask(
      world.app,
      'mutation ($inputs: [PublishActionInput!]!) { publishActions(inputs: $inputs) { isReplay } }',
      { inputs },
    );
    await world.app.idle();
  };
  const focused = (page: Page) =>
    page.evaluate(
      "(document.activeElement.closest('article') ?? document.activeElement).textContent.slice(0, 80)",
    );
  const press = async (page: Page, ...keys: KeyInput[]): Promise<void> => {
    for (const key of keys) await page.keyboard.down(key);
    for (const key of keys) await page.keyboard.up(key);
  };

  test('shows an empty feed without any axe-core violation', async () => {
    await using visited = await world.visit('#/feed');
    const { page, errors } = visited;
    await has(page, 'Nothing here.');
    expect(await page.$('[role="feed"]')).toBeNull();
    expect(await axeViolationsInBoth(page)).toEqual({});
    expect(errors).toEqual([]);
  });

  test('shows a message for a truncated address, not a blank page', async () => {
    await using visited = await world.visit('#/member/%E0%A4%A');
    const { page, errors } = visited;
    await has(page, 'Member', 'h1');
    expect(errors).toEqual([]);
  });

  test('moves nothing under the pointer, and shows new items after it has left', async () => {
    await follow();
    await post('Heron');
    await world.app.idle();
    await using visited = await world.visit('#/feed');
    const { page } = visited;
    await has(page, 'Heron', '[role="feed"]');
    await page.locator('article').hover();
    await post('Egret');
    await has(page, '1 new', '[data-fanfare="new-items"]');
    expect(await page.$$('article')).toHaveLength(1);
    await page.mouse.move(1, 1);
    await has(page, 'Egret', '[role="feed"]');
  });

  test('shifts nothing while items arrive, nor when they are shown', async () => {
    await follow();
    await postAll('Here', 40);
    await using visited = await world.visit('#/feed');
    const { page } = visited;
    await has(page, 'Here 39.', '[role="feed"]');
    await page.evaluate('window.scrollTo(0, 1500)');
    await has(page, 'Here 12.', '[role="feed"]');
    await noteShifts(page);
    await postAll('Above', 60);
    await has(page, '60 new', '[data-fanfare="new-items"]');
    expect(await takeShifts(page)).toEqual([]);
    // By a script: what follows a click of the reader would not count.
    await page.evaluate("document.querySelector('[data-fanfare=new-items] button').click()");
    await expect.poll(() => focused(page), WAIT).toContain('Above 59.');
    expect(await takeShifts(page)).toEqual([]);
    // At the top, where they are shown as they come.
    await page.evaluate('document.activeElement.blur(); window.scrollTo(0, 0)');
    await page.mouse.move(1, 1);
    await takeShifts(page);
    await postAll('On top', 3);
    await has(page, 'On top 2.', '[role="feed"]');
    expect(await takeShifts(page)).toEqual([]);
    // What does shift is noted.
    await page.evaluate(
      "document.querySelector('main').prepend(Object.assign(document.createElement('p'), { textContent: 'Pushes' }))",
    );
    expect((await takeShifts(page)).length).toBeGreaterThan(0);
  });

  test('returns to its place if it was left right after scrolling', async () => {
    await follow();
    await postAll('Left', 40);
    await using visited = await world.visit('#/feed');
    const { page, errors } = visited;
    await has(page, 'Left 39.', '[role="feed"]');
    await page.evaluate('window.scrollTo(0, 1500)');
    await has(page, 'Left 12.', '[role="feed"]');
    const [item, top] = (await page.evaluate(LEAVE_AT_ONCE)) as [string, number];
    await has(page, 'Why it is in a feed');
    const drawn = await page.evaluate(`new Promise((resolve) => {
      addEventListener('hashchange', () => requestAnimationFrame(() =>
        resolve(document.querySelector('[data-item="${item}"]')?.getBoundingClientRect().top ?? 'not there')), { once: true });
      history.back();
    })`);
    expect(Math.abs(Number(drawn) - top)).toBeLessThanOrEqual(1);
    expect(errors).toEqual([]);
  });

  test('moves nothing when a message or the loss of the connection is shown above the list', async () => {
    await follow();
    await postAll('Said', 40);
    await using visited = await world.visit('#/feed');
    const { page } = visited;
    await has(page, 'Said 39.', '[role="feed"]');
    await noteShifts(page);
    await world.server.close();
    await has(page, 'Connecting again', '[data-fanfare="connection"]');
    const shifts = [await takeShifts(page)];
    await page.evaluate('window.scrollTo(0, 1500)');
    await has(page, 'Said 12.', '[role="feed"]');
    const before = (await page.evaluate(FIRST)) as [string, number];
    await page.evaluate(
      "[...document.querySelectorAll('.filters button')].find((one) => one.textContent === 'Mark all read').click()",
    );
    await has(page, 'The server cannot be reached', 'main > [role="alert"]');
    const after = (await page.evaluate(FIRST)) as [string, number];
    await world.serveAgain();
    await expect.poll(() => page.$('[data-fanfare="connection"] button'), WAIT).toBeNull();
    shifts.push(await takeShifts(page));
    expect(shifts).toEqual([[], []]);
    expect(after[0]).toBe(before[0]);
    expect(Math.abs(after[1] - before[1])).toBeLessThanOrEqual(1);
  });

  test('far down, the button for new items leads to the first of them, and the keyboard continues from there', async () => {
    await follow();
    await postAll('Old', 40);
    await using visited = await world.visit('#/feed');
    const { page, errors } = visited;
    await has(page, 'Old 39.', '[role="feed"]');
    await page.evaluate('window.scrollTo(0, 1500)');
    await has(page, 'Old 12.', '[role="feed"]');
    await postAll('New', 3);
    await click(page, '3 new');
    await expect.poll(() => focused(page), WAIT).toContain('New 2.');
    const top = (): Promise<unknown> =>
      page.evaluate("document.activeElement.closest('article').getBoundingClientRect().top");
    await expect.poll(top, WAIT).toBeGreaterThan(40);
    expect(await top()).toBeLessThan(400);
    for (const title of ['New 1.', 'New 0.', 'Old 39.']) {
      await press(page, 'PageDown');
      await expect.poll(() => focused(page), WAIT).toContain(title);
    }
    await press(page, 'Control', 'Home');
    expect(await focused(page)).toContain('First unread');
    await page.focus('article');
    await press(page, 'Control', 'End');
    expect(await focused(page)).toContain('As code');
    expect(errors).toEqual([]);
  });

  test('when the focused item is hidden the next one has the focus, and keeps it while it is scrolled away', async () => {
    await follow();
    await postAll('Row', 40);
    await using visited = await world.visit('#/feed');
    const { page } = visited;
    await has(page, 'Row 39.', '[role="feed"]');
    await page.focus('article');
    await press(page, 'PageDown');
    await expect.poll(() => focused(page), WAIT).toContain('Row 38.');
    await clickOn(page, '::-p-xpath((//article)[2]//button[@aria-label="More"])');
    await clickOn(page, '::-p-xpath(//*[@role="menuitem"][contains(., "Hide")])');
    await has(page, 'Hidden', 'body');
    await expect.poll(() => focused(page), WAIT).toContain('Row 37.');
    await page.evaluate('window.scrollTo(0, document.body.scrollHeight)');
    await has(page, 'Row 0.', '[role="feed"]');
    expect(await focused(page)).toContain('Row 37.');
    await press(page, 'PageDown');
    await expect.poll(() => focused(page), WAIT).toContain('Row 36.');
  });

  test("two people see each other's changes by mouse and keyboard, and stay signed in after a reload", async () => {
    await using first = await world.visit('#/feed');
    await using second = await world.visit('#/feed');
    await click(second.page, 'Sign out');
    await clickOn(second.page, 'textarea');
    await second.page.keyboard.sendCharacter(await world.app.token('rita'));
    await second.page.keyboard.press('Enter');
    await has(second.page, 'rita', 'header');
    await second.page.reload();
    await has(second.page, 'rita', 'header');
    await has(second.page, 'Reader', 'header');
    await clickOn(first.page, 'a[href="#/publish"]');
    await fillIn(first.page, '#kind', 'posted');
    for (const name of ['postId', 'postTitle'])
      await fillIn(first.page, `.publish [name="${name}"]`, 'post:Kestrel');
    await fillIn(first.page, '.publish [name="mentions"]', 'demo, rita');
    await click(first.page, 'Publish');
    await has(first.page, 'reached 2 readers');
    // Under a pointer nothing moves: what is new would wait.
    for (const { page } of [first, second]) await page.mouse.move(1, 1);
    await has(second.page, 'post:Kestrel', '[role="feed"]');
    await clickOn(first.page, 'a[href="#/feed"]');
    await has(first.page, 'post:Kestrel', '[role="feed"]');
    const like = (page: Page) => clickOn(page, '::-p-xpath((//article)[1]//button[contains(., "Like")])');
    await like(second.page);
    await has(first.page, 'Like 1', 'article:first-of-type');
    await like(first.page);
    await has(second.page, 'Like 2', 'article:first-of-type');
    expect([first.errors, second.errors]).toEqual([[], []]);
  });

  test('loads the first unread item, however far down it is, and focuses it', async () => {
    await follow();
    await postAll('Deep', 120);
    await ask(world.app, 'mutation ($at: DateTime!) { markFeedRead(upTo: $at) { unreadCount { count } } }', {
      at: new Date(0).toISOString(),
    });
    await using visited = await world.visit('#/feed');
    const { page } = visited;
    await has(page, 'Deep 119.', '[role="feed"]');
    const oldest = await ask<{ viewer: { firstUnread: { item: { id: string } } } }>(
      world.app,
      '{ viewer { firstUnread { item { id } } } }',
      {},
      { sub: 'demo' },
    );
    await click(page, 'First unread');
    await expect
      .poll(() => page.evaluate("document.activeElement.closest('article')?.dataset.item"), WAIT)
      .toBe(oldest.viewer.firstUnread.item.id);
  });
});
