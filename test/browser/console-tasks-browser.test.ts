import type { HTTPRequest, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clickOn, fillIn, findBrowser } from '../support/browser.ts';
import { axeViolations, has, openConsole, WAIT, type ConsoleWorld } from '../support/console.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { isLeftOut } from '../support/needed.ts';
import { startWebhookTarget, type WebhookTarget } from '../support/webhook-receiver.ts';

const found = await findBrowser();
const MOST_TABS = 200;

interface Retrying {
  readonly webhookDeliveries: { readonly edges: readonly { readonly node: { readonly id: string } }[] };
}
const RETRYING = '{ webhookDeliveries(first: 100, state: RETRYING) { edges { node { id } } } }';
const RETRY = 'mutation ($id: ID!) { retryWebhook(id: $id) { id } }';
const ADMIN = { sub: 'demo', roles: ['admin'] } as const;

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
      const isShown = `${found}?.checkVisibility({ visibilityProperty: true })`;
      const is = await page.evaluate(`${isShown} ? ${found} === document.activeElement : 'away'`);
      if (is === true) return;
      // Also when it goes with what was shown before, and comes again.
      if (is === 'away') await page.locator(`::-p-xpath(${control})`).setVisibility('visible').wait();
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
      await fillIn(page, `::-p-xpath(${control})`, text);
    },
    async find(text, shown = text) {
      await tap('//button[contains(@class, "find")]');
      await fillIn(page, '.palette input', text);
      await tap(
        `//*[contains(@class, "palette")]//*[@role="option"][contains(normalize-space(.), "${shown}")]`,
      );
    },
  };
}

const HANDS = { keyboard: keyboardOf, phone: phoneOf };

/**
 * Goes to a screen that is answered all but one operation, and waits until it has all else on it.
 * @returns lets the rest through, and waits until it is shown
 */
async function hold(page: Page, operation: string, screen: string): Promise<() => Promise<void>> {
  const [held, open] = [new Set<HTTPRequest>(), new Set<HTTPRequest>()];
  let isHeld = true;
  const frames = () =>
    page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  const take = async (request: HTTPRequest): Promise<void> => {
    const text = request.hasPostData() ? ((await request.fetchPostData()) ?? '') : '';
    if (isHeld && text.includes(`query ${operation}`)) held.add(request);
    else await request.continue();
  };
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    open.add(request);
    void take(request);
  });
  for (const end of ['requestfinished', 'requestfailed'] as const)
    page.on(end, (request) => open.delete(request));
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${screen}`)}`);
  await expect.poll(() => held.size > 0 && open.size === held.size, WAIT).toBe(true);
  await frames();
  return async () => {
    isHeld = false;
    await Promise.all([...held].map((request) => request.continue()));
    await expect.poll(() => open.size, WAIT).toBe(0);
    await frames();
  };
}

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
      // It is refused again: one that is due before the press stays in the list, too.
      await press(`(${button('Retry')})[1]`);
      await has(page, '1 of 1 tried again');
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

  test('what is shown stays where it is, whichever answer comes late', async () => {
    await post('Early');
    const actionId = await publish(world.app, {
      ...{ actorId: 'john', scope: 'PUBLIC' },
      descriptor: { posted: { postId: 'post:late', postTitle: 'Late', text: 'A text of its own' } },
    });
    const comment =
      'mutation ($i: ID!) { addInteraction(input: { actionId: $i, kind: COMMENT, text: "Well" }) { isReplay } }';
    await ask(world.app, comment, { i: actionId }, { sub: 'tom' });
    await world.app.idle();
    const action = `action/${encodeURIComponent(actionId)}`;
    const moved: string[] = [];
    for (const [screen, operation, control] of [
      ['webhooks', 'Receivers', '.tabs'],
      ['deliveries', 'Failed', 'input[name="member"]'],
      ['member/john', 'MemberPage', '.card:not(.person) button'],
      [action, 'Comments', 'form textarea'],
      [action, 'Reached', 'form textarea'],
      [action, 'Said', 'form textarea'],
      ['slice/john', 'Names', '.actions > li:last-child'],
      ['slice/john', 'Said', '.actions > li:last-child'],
      ['overview', 'Work', '.plots'],
    ] as const) {
      await using visited = await world.visit('#/publish');
      const { page } = visited;
      const release = await hold(page, operation, screen);
      // By a press of a key or a pointer: what cannot be seen cannot be pressed.
      const placeOf = (): Promise<unknown> =>
        page.evaluate(
          `(() => { const found = document.querySelector(${JSON.stringify(`main ${control}`)});
            return found?.checkVisibility({ visibilityProperty: true }) ? found.getBoundingClientRect().top : null; })()`,
        );
      const before = await placeOf();
      await release();
      await expect.poll(placeOf, { ...WAIT, message: `${control} of ${screen}` }).not.toBeNull();
      const after = await placeOf();
      if (before !== null && before !== after)
        moved.push(`${control} by ${operation}: ${JSON.stringify([before, after])}`);
    }
    expect(moved).toEqual([]);
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
    // None is waited for until it is due.
    const retryAll = async (): Promise<string[]> => {
      for (const { node } of (await ask<Retrying>(world.app, RETRYING, {}, ADMIN)).webhookDeliveries.edges)
        // One that was taken meanwhile is not there any more.
        await world.app.query(RETRY, { id: node.id }, ADMIN);
      return [...target.taken.values()].map(({ type }) => type);
    };
    await expect.poll(retryAll, WAIT).toContain('webhook.test');
  });
});
