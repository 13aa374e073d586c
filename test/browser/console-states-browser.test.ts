import type { HTTPRequest, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MEMBERS, REFS, FOLLOWS } from '../../parts/demo/src/people.ts';
import { story } from '../../parts/demo/src/story.ts';
import { clickOn, findBrowser, textOf } from '../support/browser.ts';
import {
  axeViolationsInBoth,
  click,
  has,
  openConsole,
  picture,
  type ConsoleWorld,
} from '../support/console.ts';
import { ask, upsert } from '../support/feed-api.ts';
import { isLeftOut } from '../support/needed.ts';

const found = await findBrowser();
const SCREENS = [
  ...[
    'feed',
    'notifications',
    'directory',
    'publish',
    'overview',
    'deliveries',
    'moderation',
    'moderation/reports',
  ],
  ...['erasures', 'webhooks', 'inspector/ada', 'types', 'tail', 'member/ada', 'slice/ada', 'action/nothing'],
];
const SIDES = ['feed?show=groups', 'notifications?show=settings'];
const FORBIDDEN = ['overview', 'deliveries', 'moderation', 'member/ada'];
const FAILED = {
  contentType: 'application/json',
  body: JSON.stringify({ errors: [{ message: 'Something went wrong', extensions: { code: 'INTERNAL' } }] }),
};
const isQuery = (request: HTTPRequest): boolean => request.url().endsWith('/graphql');
/** What has been read already stays. */
const KEPT = new Map([
  ['feed', 'That is all.'],
  ['notifications', 'follow you now'],
]);
const WIDTHS = [1440, 390];
const TOO_WIDE = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

describe.skipIf(isLeftOut(typeof found !== 'string'))('the console while it has nothing to show', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await openConsole(found);
    await upsert(world.app, { members: MEMBERS, refs: REFS, pairs: FOLLOWS });
    await ask(
      world.app,
      'mutation ($inputs: [PublishActionInput!]!) { publishActions(inputs: $inputs) { isReplay } }',
      { inputs: story() },
    );
    await world.app.idle();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const goTo = async (page: Page, place: string): Promise<void> => {
    await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`);
  };
  /** In both widths and both colours: nothing is cut, nothing is hard to read. */
  const look = async (page: Page, name: string): Promise<void> => {
    for (const width of WIDTHS) {
      await page.setViewport({ width, height: 844 });
      expect(await page.evaluate(TOO_WIDE), `${name} at ${String(width)}`).toBe(0);
      const wrong = await axeViolationsInBoth(page, (colours) =>
        picture(page, `state-${name.replaceAll(/\W/g, '-')}-${String(width)}-${colours}`),
      );
      expect(wrong, `${name} at ${String(width)}`).toEqual({});
    }
  };

  test('loading', async () => {
    await using visited = await world.visit('#/feed');
    const { page, errors } = visited;
    await has(page, 'Home', 'h1');
    await page.setRequestInterception(true);
    // What is asked for has no answer.
    page.on('request', (request) => {
      if (!isQuery(request)) void request.continue();
    });
    await page.reload();
    for (const place of [...SCREENS, ...SIDES]) {
      await goTo(page, place);
      await page.waitForSelector(
        'main [aria-label="Loading"], main [data-fanfare="skeleton"], main [aria-busy="true"]',
      );
      // Nothing is said of what is not known yet.
      expect(await textOf(page, 'main'), place).not.toMatch(/\d unread|unknown|Nothing/);
      await look(page, `loading-${place}`);
    }
    expect(errors).toEqual([]);
  });

  test('failed', async () => {
    await using visited = await world.visit('#/feed');
    const { page } = visited;
    await has(page, 'Home', 'h1');
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      void (isQuery(request) ? request.respond(FAILED) : request.continue());
    });
    await page.reload();
    for (const place of [...SCREENS, ...SIDES]) {
      await goTo(page, place);
      // Said once for each thing that failed, and each can be tried again.
      await has(page, 'Something went wrong');
      const alone = await page.$$('main [role="alert"]:not([data-fanfare] > *):not(:has(button))');
      expect(alone, place).toEqual([]);
      expect(await textOf(page, 'main'), place).not.toMatch(/\d unread|unknown|Nothing/);
      await look(page, `failed-${place}`);
    }
  });

  test('a thread and the menu of an item', async () => {
    await using visited = await world.visit('#/feed');
    const { page } = visited;
    await page.waitForSelector('article');
    const held: HTTPRequest[] = [];
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      if (isQuery(request)) held.push(request);
      else void request.continue();
    });
    await click(page, 'Comments');
    await page.waitForSelector('article [data-fanfare="comments"]');
    await look(page, 'loading-thread');
    for (const request of held) void request.respond(FAILED);
    await has(page, 'Something went wrong', 'article');
    await look(page, 'failed-thread');
    await clickOn(page, 'article button[aria-haspopup="menu"]');
    await look(page, 'failed-thread-menu');
  });

  test('forbidden', async () => {
    await using visited = await world.visit('#/feed');
    const { page } = visited;
    const token = await world.app.token('ada', []);
    await page.evaluate(`sessionStorage.setItem('fanfare:token', ${JSON.stringify(token)})`);
    await page.reload();
    for (const place of FORBIDDEN) {
      await goTo(page, place);
      await has(page, 'your token has not the role');
      expect(await page.$$('main a[href="#/feed"]')).toHaveLength(1);
      // No group of screens without a screen.
      expect(await page.$$('.rail [role="group"]:not(:has(a))')).toEqual([]);
      await look(page, `forbidden-${place}`);
    }
  });

  test('offline', async () => {
    await using visited = await world.visit('#/feed');
    const { page } = visited;
    await has(page, 'Home', 'h1');
    await page.waitForSelector('article');
    // Screens are fetched as soon as there is nothing else to do.
    await page.waitForNetworkIdle({ idleTime: 2_000 });
    await world.server.close();
    await has(page, 'Connecting again', '[data-fanfare="connection"]');
    await look(page, 'offline-kept');
    for (const place of SCREENS) {
      await goTo(page, place);
      await has(page, KEPT.get(place) ?? 'cannot be reached');
      await look(page, `offline-${place}`);
    }
  });

  test('a screen that could not be fetched comes when the server is back', async () => {
    await world.serveAgain();
    await using visited = await world.visit('#/feed');
    const { page } = visited;
    let isAway = true;
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      void (isAway && request.url().includes('/types-') ? request.abort() : request.continue());
    });
    await page.reload();
    await page.waitForSelector('article');
    await world.server.close();
    await has(page, 'Connecting again', '[data-fanfare="connection"]');
    await goTo(page, 'types');
    await has(page, 'This screen cannot be loaded.');
    isAway = false;
    await world.serveAgain();
    await has(page, 'Posted');
  });
});
