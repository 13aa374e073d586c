import type { HTTPRequest, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clickOn, findBrowser } from '../support/browser.ts';
import { axeViolations, has, openConsole, WAIT, type ConsoleWorld } from '../support/console.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { isLeftOut } from '../support/needed.ts';
import { startWebhookTarget, type WebhookTarget } from '../support/webhook-receiver.ts';

const found = await findBrowser();
const MOST_TABS = 200;

const button = (text: string): string => `//button[normalize-space(.) = "${text}"]`;
const link = (text: string): string => `//main//a[normalize-space(.) = "${text}"]`;
const field = (name: string): string =>
  `//main//input[@name="${name}"] | //*[@role="alertdialog"]//input[@name="${name}"]`;

/** Somebody who does things with a page. A press of a key that does something, or a tap, is a click; moving and typing is none. */
interface Hand {
  readonly page: Page;
  readonly clicks: () => number;
  /** A control, as an XPath. */
  press(control: string): Promise<void>;
  type(control: string, text: string): Promise<void>;
  /** By the search. @param shown what the choice says, if it is not what is typed */
  find(text: string, shown?: string): Promise<void>;
}

/** Has no pointer: comes to a control by Tab alone. */
function keyboardOf(page: Page): Hand {
  let clicks = 0;
  const press = async (key: 'Enter' | 'k'): Promise<void> => {
    clicks += 1;
    await page.keyboard.press(key);
  };
  const come = async (control: string): Promise<void> => {
    const found = `document.evaluate(${JSON.stringify(control)}, document, null, 9, null).singleNodeValue`;
    for (let tabs = 0; tabs < MOST_TABS; tabs += 1) {
      const is = await page.evaluate(`${found} === null ? 'away' : ${found} === document.activeElement`);
      if (is === true) return;
      // Also when it goes with what was shown before, and comes again.
      if (is === 'away') await page.locator(`::-p-xpath(${control})`).wait();
      else await page.keyboard.press('Tab');
    }
    throw new Error(`${control} cannot be reached by Tab`);
  };
  return {
    page,
    clicks: () => clicks,
    async press(control) {
      await come(control);
      await press('Enter');
    },
    async type(control, text) {
      await come(control);
      await page.keyboard.type(text);
    },
    async find(text, shown = text) {
      await page.keyboard.down('Control');
      await press('k');
      await page.keyboard.up('Control');
      await page.waitForSelector('.palette input:focus');
      await page.keyboard.type(text);
      await has(page, shown, '.palette [data-highlighted]');
      await press('Enter');
    },
  };
}

/** A phone of 390 px: comes to what can be tapped. */
function phoneOf(page: Page): Hand {
  let clicks = 0;
  const tap = async (control: string): Promise<void> => {
    clicks += 1;
    await clickOn(page, `::-p-xpath(${control})`);
  };
  return {
    page,
    clicks: () => clicks,
    press: tap,
    async type(control, text) {
      await page.locator(`::-p-xpath(${control})`).fill(text);
    },
    async find(text, shown = text) {
      await tap('//button[contains(@class, "find")]');
      await page.locator('.palette input').fill(text);
      await tap(
        `//*[contains(@class, "palette")]//*[@role="option"][contains(normalize-space(.), "${shown}")]`,
      );
    },
  };
}

const HANDS = { keyboard: keyboardOf, phone: phoneOf };

describe.skipIf(isLeftOut(typeof found !== 'string'))('tasks of an operator', () => {
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
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await target[Symbol.asyncDispose]();
  });

  const post = (title: string): Promise<string> =>
    publish(world.app, {
      ...{ actorId: 'john', scope: 'PUBLIC' },
      descriptor: { posted: { postId: `post:${title}`, postTitle: title } },
    });

  /** Each leaves the page where its answer is. @param id of somebody and something that nobody else has */
  const tasksOf = (id: string, actionId: string) => ({
    'Find why Mary does not see this': async ({ page, find, press }: Hand) => {
      await find(`Mary ${id}`);
      await press(link('Why in feed'));
      await has(page, 'Because nothing brings it into this feed', '.inspected');
    },
    'Find why she was not notified of it': async ({ page, find, press, type }: Hand) => {
      await find(`Mary ${id}`);
      await press(link('Why notified'));
      await type(field('action'), actionId);
      await press(button('Look'));
      await has(page, 'nothing of this kind has happened', 'table');
    },
    'Build her feed again': async ({ page, find, press }: Hand) => {
      await find(`Mary ${id}`);
      await press(button('Rebuild the feed'));
      await has(page, 'has been rebuilt');
    },
    'Is the queue growing?': async ({ page, find }: Hand) => {
      await find('Overview');
      await page.waitForSelector('.plot [aria-label^="Waiting for delivery over time"]');
    },
    'See what a type says in German': async ({ page, find, press }: Hand) => {
      await find('Types');
      await press(link('Posted'));
      await has(page, 'veröffentlicht', '[lang="de"]');
    },
    'Publish a test of a type': async ({ page, find, press, type }: Hand) => {
      await find('Types');
      await press(link('Posted'));
      // Each type has such a link, also the one that is shown before.
      await press('//main//a[@href="#/publish/posted"]');
      await type(field('postTitle'), 'A test');
      await press(button('Publish'));
      await has(page, 'Delivered', '[role="status"]');
    },
    'Send a webhook again': async ({ page, find, press }: Hand) => {
      await find('Webhooks');
      await press(link('Tried again later'));
      target.answer = 200;
      await press(`(${button('Retry')})[1]`);
      await has(page, '1 of 1 tried again');
      target.answer = 500;
    },
    'Send a test to all receivers': async ({ page, find, press }: Hand) => {
      await find('Webhooks');
      await press(button('Send a test event'));
      await has(page, 'A test event is on its way');
    },
    'Dismiss a report': async ({ page, find, press }: Hand) => {
      await find('Moderation');
      await press(link('Reports'));
      await press(button('Dismiss …'));
      await press(button('Dismiss'));
      await has(page, 'Nothing had to be done', '.reports');
    },
    'Hide it everywhere': async ({ page, find, press }: Hand) => {
      await find(`Thing of ${id}`);
      await press(button('Hide from everybody'));
      await has(page, 'hidden', '.meta');
    },
    'Erase this person': async ({ page, find, press, type }: Hand) => {
      await find(`Mary ${id}`);
      await press(button('Erase …'));
      await type(field('confirm'), id);
      await press(button('Erase'));
      await has(page, 'Erased', '[role="status"]');
    },
  });

  const clicks: Record<string, Record<string, number>> = {};
  test.each(['keyboard', 'phone'] as const)('are done by %s alone, each in a few clicks', async (name) => {
    const id = `of-${name}`;
    await upsert(world.app, {
      members: [
        { memberId: id, name: `Mary ${id}` },
        { memberId: 'john', name: 'John Doe' },
      ],
      pairs: [{ followerId: 'demo', refId: 'john' }],
    });
    const actionId = await post(`Thing of ${id}`);
    const reported = await post('Rude');
    const report = 'mutation ($id: ID!) { report(actionId: $id, reason: "rude") { id } }';
    await ask(world.app, report, { id: reported }, { sub: 'tom' });
    await world.app.idle();
    await using visited = await world.visit('#/feed');
    const { page, errors } = visited;
    if (name === 'phone') await page.setViewport({ width: 390, height: 780, hasTouch: true, isMobile: true });
    await has(page, `Thing of ${id}`, '[role="feed"]');
    const wrong: Record<string, string[]> = {};
    for (const [task, run] of Object.entries(tasksOf(id, actionId))) {
      await page.evaluate("location.hash = '#/feed'");
      await has(page, 'Home', 'h1');
      const hand = HANDS[name](page);
      await run(hand);
      clicks[task] = { ...clicks[task], [name]: hand.clicks() };
      if (name !== 'phone') continue;
      const violations = await axeViolations(page);
      if (violations.length > 0) wrong[task] = violations;
      expect(await page.evaluate('document.documentElement.scrollWidth'), task).toBeLessThanOrEqual(390);
    }
    expect(wrong).toEqual({});
    expect(errors).toEqual([]);
  });

  test('webhooks: the tabs are where they stay, also while the receivers above them are awaited', async () => {
    await using visited = await world.visit('#/feed');
    const { page } = visited;
    const held: HTTPRequest[] = [];
    let isHeld = true;
    await page.setRequestInterception(true);
    const asks = async (request: HTTPRequest, operation: string): Promise<boolean> =>
      (await request.fetchPostData())?.includes(`query ${operation}`) === true;
    const holdOrSend = async (request: HTTPRequest): Promise<void> => {
      const isOfReceivers = await asks(request, 'Receivers');
      if (isHeld && isOfReceivers) held.push(request);
      else await request.continue();
    };
    page.on('request', (request) => void holdOrSend(request));
    const answered = page.waitForResponse((response) => asks(response.request(), 'Deliveries'));
    await page.evaluate("location.hash = '#/webhooks'");
    await answered;
    await expect.poll(() => held.length, WAIT).toBeGreaterThan(0);
    const placeOf = (): Promise<unknown> =>
      page.evaluate("document.querySelector('main .tabs')?.getBoundingClientRect().top");
    const before = await placeOf();
    isHeld = false;
    for (const request of held) await request.continue();
    await has(page, 'Send a test event');
    const after = await placeOf();
    expect([undefined, after]).toContain(before);
  });

  test('need as many clicks by keyboard as on a phone', async () => {
    target.answer = 200;
    const table = Object.entries(clicks).map(
      ([task, { keyboard, phone }]) => `${task}: ${String(keyboard)} and ${String(phone)}`,
    );
    console.log(table.join('\n'));
    expect(Object.values(clicks).map(({ keyboard }) => keyboard)).toEqual(
      Object.values(clicks).map(({ phone }) => phone),
    );
    await expect
      .poll(() => [...target.taken.values()].map(({ type }) => type), WAIT)
      .toContain('webhook.test');
  });
});
