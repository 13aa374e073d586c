import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clickOn, fillIn, findBrowser, textOf } from '../support/browser.ts';
import { click, has, openConsole, WAIT, type ConsoleWorld } from '../support/console.ts';
import { publish, upsert } from '../support/feed-api.ts';
import { isLeftOut } from '../support/needed.ts';
import { tokenWith } from '../support/tenants.ts';

const found = await findBrowser();
const run = promisify(execFile);

describe.skipIf(isLeftOut(typeof found !== 'string'))('details of the console', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await openConsole(found);
    await upsert(world.app, {
      members: [{ memberId: 'rita', name: 'Rita Moreau' }],
      pairs: [{ followerId: 'demo', refId: 'john' }],
    });
    await publish(world.app, {
      actorId: 'john',
      descriptor: { posted: { postId: 'post:owl', postTitle: 'Owl', tags: ['night'] } },
    });
    await world.app.idle();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("a page of the inspector that cannot be read shows the server's error once", async () => {
    await using visited = await world.visit('#/inspector/rita?after=nonsense');
    const { page } = visited;
    await has(page, 'cursor', '[role="alert"]');
    await has(page, 'As code');
    expect(await page.$$('[role="alert"]')).toHaveLength(1);
    expect(await textOf(page, 'main')).not.toContain('Syntax');
  });

  test('the tag field shows the current tag, and without results the whole feed is offered', async () => {
    await using visited = await world.visit('#/feed');
    const { page } = visited;
    await clickOn(page, '::-p-xpath(//article//a[. = "#night"])');
    const tag = () => page.evaluate("document.querySelector('input[name=tag]').value");
    await expect.poll(tag, WAIT).toBe('night');
    await has(page, 'Owl', '[role="feed"]');
    await fillIn(page, 'input[name="tag"]', 'day');
    await page.focus('input[name="tag"]');
    await page.keyboard.press('Enter');
    await has(page, 'Nothing with the tag day.', '[data-fanfare="empty"]');
    await clickOn(page, '::-p-xpath(//a[. = "Show the whole feed"])');
    await has(page, 'Owl', '[role="feed"]');
    expect(await tag()).toBe('');
  });

  test('a copied shell command executes nothing of an id that came from a link', async () => {
    const id = "x'; touch /tmp/gone; '";
    await using visited = await world.visit(`#/member/${encodeURIComponent(id)}`);
    const copied = await visited.page.waitForFunction(
      "[...document.querySelectorAll('.as-code pre')].map((one) => one.textContent).find((text) => text.startsWith('npx'))",
    );
    const command = String(await copied.jsonValue());
    const { stdout } = await run('sh', ['-c', command.replace('npx fanfare', "printf '%s|'")]);
    expect(stdout).toBe(`export|--member=${id}|`);
    // As if the one who pastes it had pressed a key.
    await using other = await world.visit(`#/member/${encodeURIComponent('x\ny')}`);
    await has(other.page, 'As code');
    expect(await textOf(other.page, '.as-code')).not.toContain('fanfare export');
  });

  test('an operator is asked for the tenant, and acts in it', async () => {
    const headers: (string | undefined)[] = [];
    await using visited = await world.visit('#/slice/john');
    const { page } = visited;
    page.on('request', (request) => {
      if (request.url().endsWith('/graphql')) headers.push(request.headers()['fanfare-tenant']);
    });
    await click(page, 'Sign out');
    await clickOn(page, 'textarea');
    await page.keyboard.sendCharacter(await tokenWith('olga', { roles: ['operator', 'admin'] }));
    headers.length = 0;
    await fillIn(page, '::-p-xpath(//label[contains(., "Tenant")]/input)', 'acme');
    await click(page, 'Sign in');
    await has(page, 'acme', 'header');
    await expect.poll(() => [...new Set(headers)], WAIT).toEqual(['acme']);
    expect(await textOf(page, '.as-code')).toContain("-H 'fanfare-tenant: acme'");
    await page.reload();
    await has(page, 'acme', 'header');
  });

  test("every erasure requires typing the member's id", async () => {
    await using visited = await world.visit('#/member/rita');
    const { page } = visited;
    await has(page, 'Rita Moreau');
    const isReady = () => page.evaluate("!document.querySelector('[role=alertdialog] button.main').disabled");
    await click(page, 'Erase …');
    await fillIn(page, '[role="alertdialog"] input', 'rita');
    await expect.poll(isReady, WAIT).toBe(true);
    await clickOn(page, '[role="alertdialog"] ::-p-xpath(.//button[. = "Cancel"])');
    await click(page, 'Erase …');
    expect(await isReady()).toBe(false);
  });

  test('the note about hidden actions can be closed', async () => {
    await using visited = await world.visit('#/moderation');
    const { page } = visited;
    await has(page, 'Owl');
    await clickOn(page, 'main li input');
    await click(page, 'Hide 1');
    await has(page, '1 hidden', '[data-fanfare="undo"]');
    await clickOn(page, '[data-fanfare="undo"] ::-p-xpath(.//button[. = "Close"])');
    await expect.poll(() => textOf(page, '[data-fanfare="undo"]'), WAIT).toBe('');
    await clickOn(page, 'main li input');
    await click(page, 'Show again');
    await expect.poll(() => textOf(page, '.actions'), WAIT).not.toContain('hidden');
  });

  test('the tail pauses for keyboard use, wherever the pointer is', async () => {
    await using visited = await world.visit('#/tail');
    const { page } = visited;
    await has(page, 'Owl', '.tail');
    await page.focus('.tail a');
    await page.locator('.tail li').hover();
    await page.mouse.move(1, 1);
    await has(page, 'Paused');
    expect(await textOf(page, '.tail-state')).toContain('Paused');
  });

  test('each screen has its own title, and keyboard focus continues from its content and its place in the feed', async () => {
    await using visited = await world.visit('#/feed');
    const { page } = visited;
    await has(page, 'Owl', '[role="feed"]');
    expect(await page.title()).toBe('Home · Fanfare');
    // The keys are used from here on: after a click the focus is not brought back.
    await page.keyboard.press('Tab');
    await page.focus('article .line > a');
    await page.keyboard.press('Enter');
    await has(page, 'Why it is in a feed');
    expect(await page.title()).toBe('Action · Fanfare');
    const focused = () => page.evaluate('document.activeElement.id || document.activeElement.localName');
    await expect.poll(focused, WAIT).toBe('main');
    await page.goBack();
    await has(page, 'Owl', '[role="feed"]');
    await expect.poll(focused, WAIT).toBe('article');
  });

  test('a button opens the search too', async () => {
    await using visited = await world.visit('#/feed');
    const { page } = visited;
    await clickOn(page, 'button.find');
    await page.waitForSelector('.palette input');
    await page.keyboard.type('overv');
    await has(page, 'Overview', '.palette [data-highlighted]');
    await page.keyboard.press('Enter');
    await has(page, 'Overview', 'h1');
  });

  test("the page is in one language, whatever the browser's is", async () => {
    await using visited = await world.visit('#/feed');
    const { page } = visited;
    const debug = await page.createCDPSession();
    await debug.send('Emulation.setLocaleOverride', { locale: 'de-DE' });
    await page.reload();
    await has(page, 'Owl', '[role="feed"]');
    expect(await page.evaluate('new Intl.NumberFormat().resolvedOptions().locale')).toBe('de-DE');
    expect(await page.evaluate("document.querySelector('article time').textContent")).toMatch(/ago|now/);
  });
});
