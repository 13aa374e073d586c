import type { HTTPRequest, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clickOn, fillIn, findBrowser, textOf } from '../support/browser.ts';
import { click, CONSOLE_ROLES, has, openConsole, WAIT, type ConsoleWorld } from '../support/console.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { isLeftOut } from '../support/needed.ts';

const found = await findBrowser();

const UNBROKEN = 'x'.repeat(5_000);
const ARABIC = 'محمد بن عبد الله';
const HTML = '<img src="/nowhere" onerror="document.title = 1"><b>Bold</b>';
/** How far the page is wider than the window. */
const TOO_WIDE = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

describe.skipIf(isLeftOut(typeof found !== 'string'))('the console in unusual situations', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await openConsole(found);
    await upsert(world.app, { pairs: [{ followerId: 'demo', refId: 'john' }] });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const post = (title: string, more: object = {}): Promise<string> =>
    publish(world.app, {
      actorId: 'john',
      descriptor: { posted: { postId: `post:${title.slice(0, 50)}`, postTitle: title } },
      ...more,
    });
  const goTo = async (page: Page, place: string): Promise<void> => {
    await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`);
  };
  const titled = async (title: string): Promise<number> => {
    const { actions } = await ask<{
      actions: { edges: { node: { descriptor: { summary: string } } }[] };
    }>(
      world.app,
      '{ actions(first: 100) { edges { node { descriptor { summary } } } } }',
      {},
      { sub: 'demo', roles: ['admin'] },
    );
    return actions.edges.filter(({ node }) => node.descriptor.summary.includes(title)).length;
  };

  test('fits names and texts of any length and script, as text', async () => {
    await upsert(world.app, {
      members: [
        { memberId: 'arabic', name: ARABIC },
        { memberId: 'html', name: HTML },
      ],
    });
    const ids = {
      long: await post('L'.repeat(500), {
        refs: [{ id: 'thing:long', type: 'thing', label: 'R'.repeat(300) }],
      }),
      many: await post('Many', {
        refs: Array.from({ length: 100 }, (_, n) => ({
          id: `thing:${String(n)}`,
          type: 'thing',
          label: `Thing ${String(n)}`,
        })),
      }),
      arabic: await post('Salam 👩‍👩‍👧‍👦', { actorId: 'arabic' }),
      html: await post('Markup', { actorId: 'html' }),
    };
    await ask(
      world.app,
      'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { action { id } } }',
      { input: { actionId: ids.long, kind: 'COMMENT', text: UNBROKEN } },
      { sub: 'demo' },
    );
    await world.app.idle();
    await using visited = await world.visit('#/feed');
    const { page, errors } = visited;
    for (const width of [1200, 390]) {
      await page.setViewport({ width, height: 844 });
      for (const [place, shown] of [
        [`action/${encodeURIComponent(ids.long)}`, UNBROKEN],
        [`action/${encodeURIComponent(ids.many)}`, '80 more refs'],
        [`action/${encodeURIComponent(ids.arabic)}`, ARABIC],
        [`action/${encodeURIComponent(ids.html)}`, HTML],
        [`member/${'m'.repeat(200)}`, 'm'.repeat(200)],
        [`slice/${'s'.repeat(200)}`, 's'.repeat(200)],
        ['moderation', 'LLLL'],
        ['feed', 'LLLL'],
      ] as const) {
        await goTo(page, place);
        await has(page, shown);
        expect(await page.evaluate(TOO_WIDE), `${place} at ${String(width)}`).toBe(0);
      }
    }
    await goTo(page, `action/${encodeURIComponent(ids.arabic)}`);
    await has(page, 'followers', 'main .meta a[href]:last-of-type');
    // What comes after a name stands behind it, in whichever direction the name is written.
    const behind = `(() => {
      const link = [...document.querySelectorAll('main .meta a')].find((one) => one.textContent.includes('followers'));
      const range = document.createRange();
      const after = [...link.childNodes].at(-1) ?? link;
      range.selectNode(after);
      return range.getBoundingClientRect().left >= link.querySelector('bdi')?.getBoundingClientRect().right - 1;
    })()`;
    expect(await page.evaluate(behind)).toBe(true);
    await goTo(page, `action/${encodeURIComponent(ids.many)}`);
    await click(page, '80 more refs');
    await has(page, 'Thing 99');
    expect(await page.$$('main img, main b')).toEqual([]);
    expect(errors).toEqual([]);
  });

  test('hides one item on a double click, not the next one too', async () => {
    for (const title of ['Auk', 'Booby', 'Coot', 'Dodo', 'Eider']) await post(title);
    await world.app.idle();
    await using visited = await world.visit('#/feed');
    const { page } = visited;
    await has(page, 'Auk', '[role="feed"]');
    const shown = () => textOf(page, '[role="feed"]');
    const debug = await page.createCDPSession();
    const press = async (x: number, y: number, clickCount: number): Promise<void> => {
      for (const type of ['mousePressed', 'mouseReleased'] as const)
        await debug.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount });
    };
    for (const [label, gone, next] of [
      ['Hide this', 'Eider', 'Dodo'],
      ['Archive', 'Dodo', 'Coot'],
    ] as const) {
      await clickOn(page, 'article button[aria-haspopup="menu"]');
      const item = `::-p-xpath(//*[@role="menuitem"][. = "${label}"])`;
      const button = await page.waitForSelector(item);
      const { x, y, width, height } = (await button?.boundingBox()) ?? expect.unreachable();
      await press(x + width / 2, y + height / 2, 1);
      await expect.poll(shown, WAIT).not.toContain(gone);
      await press(x + width / 2, y + height / 2, 2);
      // The answer to what comes later: had the second click done something it would be seen by now.
      await has(page, label === 'Hide this' ? 'Hidden' : 'Archived', '[data-fanfare="undo"]');
      expect(await shown()).toContain(next);
    }
  });

  test('publishes once if it is repeated after its response was lost', async () => {
    await using visited = await world.visit('#/publish');
    const { page } = visited;
    await has(page, 'Audience');
    await fillIn(page, '.publish [name="postId"]', 'post:once');
    await fillIn(page, '.publish [name="postTitle"]', 'Puffin');
    let isLost = false;
    await page.setRequestInterception(true);
    page.on('request', (request) => void forward(request));
    async function forward(request: HTTPRequest): Promise<void> {
      const body = request.hasPostData() ? await request.fetchPostData() : undefined;
      if (isLost || body?.includes('mutation Publish') !== true) return request.continue();
      isLost = true;
      await fetch(request.url(), { method: 'POST', headers: request.headers(), body });
      return request.abort('connectionreset');
    }
    await click(page, 'Publish');
    await has(page, 'The server cannot be reached');
    await click(page, 'Publish');
    await has(page, 'What was published');
    expect(await titled('Puffin')).toBe(1);
  });

  test('keeps a form while other screens are shown, but neither in storage nor for the next user', async () => {
    await using visited = await world.visit('#/publish');
    const { page } = visited;
    await has(page, 'Audience');
    await fillIn(page, '.publish [name="postTitle"]', 'Half a sentence');
    await fillIn(page, '#kind', 'custom');
    await clickOn(page, 'a[href="#/overview"]');
    await has(page, 'Overview', 'h1');
    await page.goBack();
    await has(page, 'Audience');
    expect(await page.evaluate("document.querySelector('#kind').value")).toBe('custom');
    await fillIn(page, '#kind', 'posted');
    const typed = () =>
      page.evaluate("[...document.querySelectorAll('.publish input')].map(({ value }) => value).join()");
    expect(await typed()).toContain('Half a sentence');
    expect(
      await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href])'),
    ).not.toContain('Half');
    await click(page, 'Sign out');
    await click(page, 'Sign in with the token');
    await has(page, 'Audience');
    await fillIn(page, '#kind', 'posted');
    expect(await typed()).not.toContain('Half');
  });

  test('explains a refused token and leads back to signing in', async () => {
    await using visited = await world.visit('#/feed');
    const { page } = visited;
    const token = await world.app.token('rita', CONSOLE_ROLES);
    const forged = `${token.slice(0, -8)}AAAAAAAA`;
    await page.evaluate(`sessionStorage.setItem('fanfare:token', ${JSON.stringify(forged)})`);
    await page.reload();
    await has(page, 'The token is invalid', '[data-fanfare="connection"]');
    expect(await textOf(page, '[data-fanfare="connection"]')).not.toContain('socket');
    expect(await textOf(page, 'main')).not.toContain('0 unread');
    for (const [screen, untrue] of [
      ['member/rita', 'not in the directory'],
      ['deliveries', 'Everything has got'],
      ['webhooks', 'No receiver has refused'],
      ['publish', 'Audience'],
      ['tail', 'FailedLive'],
    ] as const) {
      await goTo(page, screen);
      await has(page, 'The token is invalid');
      expect(await textOf(page, 'main'), screen).not.toContain(untrue);
    }
    await click(page, 'Sign in again');
    await has(page, 'Sign in with the token of the terminal');
    await click(page, 'Sign in with the token');
    await has(page, 'demo', 'header');
  });

  test('repeats requests that failed while the server was down, and keeps the selection', async () => {
    await post('Gannet');
    await using visited = await world.visit('#/moderation');
    await using other = await world.visit('#/slice/john');
    const { page } = visited;
    await has(page, 'Gannet');
    await has(other.page, 'Gannet');
    await world.server.close();
    await clickOn(page, '::-p-xpath(//li[contains(., "Gannet")]//input)');
    await click(page, 'Hide 1');
    await has(page, 'The server cannot be reached');
    await goTo(other.page, 'slice/nothing');
    await has(other.page, 'The server cannot be reached');
    await world.serveAgain();
    await has(other.page, 'Nothing visible carries this id.');
    await click(page, 'Hide 1');
    await has(page, '1 hidden');
  });

  test('closes the search on the way back, and selects the text if the browser does not allow copying', async () => {
    const id = await post('Loon');
    await using visited = await world.visit('#/overview');
    const { page, errors } = visited;
    // As it is where a page came by http from another machine.
    await page.evaluateOnNewDocument(`
      delete Crypto.prototype.randomUUID;
      for (const name of ['clipboard', 'locks']) delete Navigator.prototype[name];`);
    await page.reload();
    await goTo(page, `action/${encodeURIComponent(id)}`);
    await has(page, 'Comments');
    await page.keyboard.down('Control');
    await page.keyboard.press('k');
    await page.keyboard.up('Control');
    await page.waitForSelector('.palette');
    await page.goBack();
    await has(page, 'Overview', 'h1');
    expect(await page.$('.palette')).toBeNull();
    await page.goForward();
    await has(page, 'Comments');
    await fillIn(page, '[data-fanfare="composer"] textarea', 'Said from afar');
    await click(page, 'Send');
    await has(page, 'Said from afar', '[data-fanfare="comments"] ul');
    await clickOn(page, '.as-code summary');
    await click(page, 'Copy');
    await expect.poll(() => page.evaluate('String(getSelection())'), WAIT).toContain('query ConsoleAction');
    expect(errors).toEqual([]);
  });
});
