import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patterns, words } from '../../console/src/words/de.ts';
import { clickOn, fillIn, findBrowser, textOf } from '../support/browser.ts';
import {
  CONSOLE_ROLES,
  WAIT,
  axeViolations,
  axeViolationsInBoth,
  click,
  has,
  openConsole,
  picture,
  type ConsoleWorld,
} from '../support/console.ts';
import { publish, upsert } from '../support/feed-api.ts';
import { isLeftOut } from '../support/needed.ts';
import { openShared } from '../support/spare-databases.ts';
import { startWebhookTarget, type WebhookTarget } from '../support/webhook-receiver.ts';

const found = await findBrowser();

const ALL_SCREENS = [
  ...[
    'feed',
    'notifications',
    'publish',
    'directory',
    'slice/john',
    'overview',
    'tail',
    'inspector/demo',
    'member/demo',
  ],
  ...['notified/demo', 'moderation', 'moderation/reports', 'deliveries', 'erasures', 'webhooks', 'types'],
];
/** German whose every text is marked, as a script. */
const MARKED = `export const words = ${JSON.stringify(
  Object.fromEntries(Object.entries(words).map(([english, german]) => [english, `⟦${german}⟧`])),
)}; export const patterns = [${patterns.map(([pattern, german]) => `[${String(pattern)}, ${JSON.stringify(`⟦${german}⟧`)}]`).join()}];`;
/** Texts of the page that were not said in German and are no data: data is marked as such, or is in capitals as in the API. */
const NOT_SAID = `(() => {
  const isText = (text) => /[\\p{L}]{2}/u.test(text) && !text.includes('⟦') && !/^[A-Z_]+$/.test(text);
  const data = '[dir=auto], [translate=no], bdi, code, pre, q, svg, time, textarea, script, [data-fanfare=avatar]';
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) {
    const { textContent, parentElement } = texts.currentNode;
    if (isText(textContent.trim()) && !parentElement.closest(data)) found.push(textContent);
  }
  for (const name of ['title', 'aria-label', 'placeholder'])
    for (const element of document.querySelectorAll(\`[\${name}]:not(article, [dir=auto], time)\`))
      if (isText(element.getAttribute(name))) found.push(name + ': ' + element.getAttribute(name));
  return found;
})()`;
/** On how many lines the parts of the head stand, and which of the screens are not in view. */
const LINES_OF_HEAD = `(() => {
  const parts = [...document.querySelectorAll('header > *')].map((part) => part.getBoundingClientRect());
  const middles = [...new Set(parts.map(({ top, bottom }) => Math.round((top + bottom) / 2)))].sort((a, b) => a - b);
  const hidden = [...document.querySelectorAll('.rail a')].filter((link) => {
    const { left, right, bottom } = link.getBoundingClientRect();
    return left < 0 || right <= left || bottom > innerHeight;
  });
  return {
    lines: middles.filter((middle, at) => at === 0 || middle - middles[at - 1] > 4).length,
    hidden: hidden.map((link) => link.textContent),
  };
})()`;

describe.skipIf(isLeftOut(typeof found !== 'string'))('the console for administrators', () => {
  let world: ConsoleWorld;
  let target: WebhookTarget;
  beforeAll(async () => {
    target = await startWebhookTarget();
    target.answer = 500;
    const receivers = [{ url: target.url, secrets: [target.secret], allowPrivateAddress: true }];
    world = await openConsole(found, undefined, {
      WEBHOOKS: JSON.stringify(receivers),
      POLL_INTERVAL: '50ms',
    });
    await upsert(world.app, {
      members: [{ memberId: 'john', name: 'John Doe', teamId: 'red' }],
      pairs: [
        { followerId: 'john', refId: 'office' },
        { followerId: 'demo', refId: 'john' },
      ],
    });
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await target[Symbol.asyncDispose]();
  });

  const post = (title: string): Promise<string> =>
    publish(world.app, {
      actorId: 'john',
      descriptor: { posted: { postId: `post:${title}`, postTitle: title } },
    });
  const goTo = (page: Page, hash: string): Promise<unknown> => page.evaluate(`location.hash = '#/${hash}'`);

  test('the tail pauses under the pointer, counts waiting entries, and shows them afterwards; host events have one too', async () => {
    await post('Osprey');
    await using visited = await world.visit('#/tail');
    const { page, errors } = visited;
    await has(page, 'Osprey');
    await page.locator('.tail li').hover();
    await has(page, 'Paused, 0 waiting');
    for (const title of ['Heron', 'Wren']) await post(title);
    await has(page, 'Paused, 2 waiting');
    expect(await textOf(page, '.tail')).not.toContain('Wren');
    await page.mouse.move(1, 1);
    await has(page, 'Wren', '.tail');
    await goTo(page, 'tail?of=events');
    await has(page, 'action.published', '.tail');
    await picture(page, 'tail-light');
    expect(errors).toEqual([]);
  });

  test('in a browser that prefers German nothing on any screen is said in English; a button in the head changes it', async () => {
    await post('Kite');
    await using visited = await world.visit('#/feed');
    const { page, errors } = visited;
    const preferring = "Object.defineProperty(navigator, 'languages', { value: ['de-AT', 'en'] })";
    await page.evaluateOnNewDocument(preferring);
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      if (!/\/de-[^/]+\.js$/.test(request.url())) void request.continue();
      else void request.respond({ contentType: 'text/javascript', body: MARKED });
    });
    const left: Record<string, unknown> = {};
    for (const screen of ALL_SCREENS) {
      await page.goto('about:blank');
      await page.goto(`${world.server.url}/console#/${screen}`);
      await page.waitForSelector('main:not(:has(.loading, [data-fanfare="skeleton"])) > *');
      const texts = await page.evaluate(NOT_SAID);
      if ((texts as unknown[]).length > 0) left[screen] = texts;
    }
    expect(left).toEqual({});
    expect(await page.evaluate('document.documentElement.lang')).toBe('de');
    await click(page, 'EN');
    await has(page, 'Types', 'h1');
    expect(errors).toEqual([]);
  });

  test('the overview links each figure to its details', async () => {
    await using visited = await world.visit('#/overview');
    const { page } = visited;
    await has(page, 'This server: ready');
    await has(page, 'Published → delivered', '.plots');
    const leads = await page.evaluate(
      "[...document.querySelectorAll('.figures li')].every((li) => li.querySelector('a[href^=\"#/\"]') !== null)",
    );
    expect(leads).toBe(true);
    await clickOn(page, '::-p-xpath(//a[contains(., "Failed fan-outs")])');
    await has(page, 'Failed fan-outs', 'h2');
    await clickOn(page, '.as-code summary');
    await has(page, 'curl -s http', '.as-code');
    expect(await textOf(page, '.as-code')).not.toContain(
      (await world.app.token('demo', [...CONSOLE_ROLES])).split('.')[0],
    );
  });

  test('Ctrl+K finds a name and an id by keyboard, and erasing a member requires typing the id', async () => {
    await post('Kite');
    await world.app.idle();
    await using visited = await world.visit();
    const { page } = visited;
    await has(page, 'Kite', '[role="feed"]');
    const find = async (text: string, kind: string): Promise<void> => {
      await page.keyboard.down('Control');
      await page.keyboard.press('k');
      await page.keyboard.up('Control');
      await page.keyboard.type(text);
      await has(page, kind, '.palette [data-highlighted]');
      await page.keyboard.press('Enter');
    };
    await find('webh', 'Webhooks');
    await has(page, 'Webhooks', 'h1');
    await find('john', 'John Doe person');
    await has(page, 'team red');
    await click(page, 'Show');
    await has(page, 'follows');
    await click(page, 'Rebuild the feed');
    await has(page, 'The feed of john has been rebuilt');
    await picture(page, 'member-light');
    await click(page, 'Erase …');
    const isReady = () => page.evaluate("!document.querySelector('[role=alertdialog] button.main').disabled");
    expect(await isReady()).toBe(false);
    await fillIn(page, '[role="alertdialog"] input', 'joh');
    expect(await isReady()).toBe(false);
    await fillIn(page, '[role="alertdialog"] input', 'john');
    await clickOn(page, '[role="alertdialog"] button.main');
    await has(page, 'not in the directory');
    await expect
      .poll(() => textOf(page, 'main'), WAIT)
      .toMatch(/(Running|Looking once more|Erased).* \d+ changed/);
  });

  test('groups failed deliveries by error, and its dialog shows which are retried', async () => {
    await post('Raven');
    await using visited = await world.visit('#/webhooks?state=RETRYING');
    const { page } = visited;
    await has(page, 'Answered 500', 'h3');
    target.answer = 200;
    await click(page, 'Retry all');
    await has(page, 'deliveries?', '[role="alertdialog"]');
    await has(page, 'action.published to http', '[role="alertdialog"]');
    await clickOn(page, '[role="alertdialog"] button.main');
    await has(page, 'No receiver has refused anything.');
    const taken = () => [...target.taken.values()].map(({ type }) => type);
    expect(taken()).toContain('action.published');
    await click(page, 'Send a test event');
    await has(page, 'A test event is on its way');
    await expect.poll(taken, WAIT).toContain('webhook.test');
    await has(page, 'Up to date');
    await picture(page, 'webhooks-light');
  });

  test('groups failed fan-outs by error, and its dialog shows which are retried', async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, (_, n) => post(`Dove ${String(n)}`)));
    await world.app.idle();
    const { actions } = (await openShared(world.app.database)).collections;
    const latest = await actions.find().sort({ _id: -1 }).limit(ids.length).toArray();
    const failed = { _id: { $in: latest.map(({ _id }) => _id) } };
    await actions.updateMany(failed, {
      $set: {
        'fanOut.state': 'FAILED',
        'fanOut.lane': 'LIVE',
        'fanOut.leaseUntil': new Date(),
        'fanOut.error': 'The disk is full',
      },
      $unset: { 'fanOut.deliveredVersion': 1 },
    });
    await using visited = await world.visit('#/deliveries');
    const { page } = visited;
    await has(page, 'The disk is full', 'h3');
    await click(page, 'Retry these');
    await has(page, 'Retry 6 failed fan-outs?', '[role="alertdialog"]');
    await has(page, 'Failed, The disk is full. The first five:', '[role="alertdialog"]');
    await has(page, 'and 1 more.', '[role="alertdialog"]');
    expect(await page.$$('[role="alertdialog"] li')).toHaveLength(5);
    expect(await axeViolations(page)).toEqual([]);
    await clickOn(page, '[role="alertdialog"] button.main');
    await has(page, '6 of 6 tried again');
    await has(page, 'Everything has reached its readers.');
    await expect.poll(() => actions.countDocuments({ ...failed, 'fanOut.state': 'DONE' }), WAIT).toBe(6);
  });

  test('the header is one line, all screens are in the rail, and nothing is wider than the window', async () => {
    const id = await post('Bittern');
    await using visited = await world.visit('#/overview');
    const { page } = visited;
    await has(page, 'Overview', 'h1');
    const widthOf = () => page.evaluate('document.documentElement.scrollWidth');
    for (const screen of [...ALL_SCREENS, `action/${encodeURIComponent(id)}`]) {
      await goTo(page, screen);
      await expect.poll(() => page.$('main .loading, [data-fanfare="skeleton"]'), WAIT).toBeNull();
      for (const width of [360, 480, 640, 700, 900, 1100, 1200]) {
        await page.setViewport({ width, height: 760 });
        // Lists are measured again after the window has changed.
        const message = `the width of ${screen} at ${String(width)}`;
        await expect.poll(widthOf, { ...WAIT, message }).toBeLessThanOrEqual(width);
      }
    }
    for (const width of [700, 1200, 1440]) {
      await page.setViewport({ width, height: 760 });
      await expect.poll(() => page.evaluate(LINES_OF_HEAD), WAIT).toEqual({ lines: 1, hidden: [] });
    }
  });

  test('has no axe-core violation, and fits a phone', async () => {
    await using visited = await world.visit('#/overview');
    const { page } = visited;
    const wrong: Record<string, Record<string, string[]>> = {};
    for (const screen of ['overview', 'tail', 'member/demo', 'webhooks']) {
      await goTo(page, screen);
      await expect.poll(() => page.$('main .loading'), WAIT).toBeNull();
      expect(await page.$('details.as-code'), screen).not.toBeNull();
      const seen = await axeViolationsInBoth(page, (value) =>
        picture(page, `${screen.split('/')[0] ?? ''}-${value}`),
      );
      if (Object.keys(seen).length > 0) wrong[screen] = seen;
      await page.setViewport({ width: 390, height: 780 });
      await picture(page, `${screen.split('/')[0] ?? ''}-phone`);
      expect(await page.evaluate('document.documentElement.scrollWidth'), screen).toBeLessThanOrEqual(390);
      await page.setViewport({ width: 1100, height: 760 });
    }
    await page.setViewport({ width: 390, height: 780 });
    // All screens are a press away.
    await click(page, 'More');
    await clickOn(page, '.rail a[href="#/types"]');
    await has(page, 'Types', 'h1');
    expect(await page.evaluate("getComputedStyle(document.querySelector('.rail')).display")).toBe('none');
    await page.setViewport({ width: 1100, height: 760 });
    await goTo(page, 'webhooks');
    await page.keyboard.down('Control');
    await page.keyboard.press('k');
    await page.keyboard.up('Control');
    await page.keyboard.type('e');
    await has(page, 'Deliveries', '.palette');
    expect(await axeViolations(page)).toEqual([]);
    await picture(page, 'palette-dark');
    expect(wrong).toEqual({});
  });
});
