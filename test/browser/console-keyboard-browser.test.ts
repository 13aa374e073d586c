import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FOLLOWS, MEMBERS, REFS } from '../../parts/demo/src/people.ts';
import { liveAction, story } from '../../parts/demo/src/story.ts';
import { findBrowser } from '../support/browser.ts';
import { openConsole, WAIT, type ConsoleWorld } from '../support/console.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { controls, counted, focused, pressed, settled, walk } from '../support/keyboard.ts';
import { isLeftOut } from '../support/needed.ts';
import { startWebhookTarget, type WebhookTarget } from '../support/webhook-receiver.ts';

const found = await findBrowser();
const SCREENS = [
  ...['feed', 'feed?show=groups', 'notifications', 'publish/posted', 'directory', 'slice/john', 'overview'],
  ...['tail', 'inspector/demo', 'member/john', 'notified/demo', 'moderation', 'moderation/reports'],
  ...['deliveries', 'erasures', 'webhooks', 'types/posted'],
];
describe.skipIf(isLeftOut(typeof found !== 'string'))('the console by keyboard alone', () => {
  let world: ConsoleWorld;
  let target: WebhookTarget;
  let id = '';
  beforeAll(async () => {
    target = await startWebhookTarget();
    target.answer = 500;
    world = await openConsole(found, undefined, {
      WEBHOOKS: JSON.stringify([{ url: target.url, secrets: [target.secret], allowPrivateAddress: true }]),
      POLL_INTERVAL: '50ms',
    });
    await upsert(world.app, { members: MEMBERS, refs: REFS, pairs: FOLLOWS });
    await ask(
      world.app,
      'mutation ($inputs: [PublishActionInput!]!) { publishActions(inputs: $inputs) { isReplay } }',
      { inputs: [...story(), ...Array.from({ length: 10 }, (_, n) => liveAction('keys', n))] },
    );
    await upsert(world.app, {
      members: [{ memberId: 'john', name: 'John Doe' }],
      pairs: [{ followerId: 'demo', refId: 'john' }],
    });
    id = await publish(world.app, {
      actorId: 'john',
      scope: 'PUBLIC',
      descriptor: { posted: { postId: 'post:owl', postTitle: 'Owl', text: 'It was awake all night.' } },
    });
    await ask(
      world.app,
      'mutation ($id: ID!) { report(actionId: $id, reason: "rude") { id } }',
      { id },
      { sub: 'tom' },
    );
    await world.app.idle();
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await target[Symbol.asyncDispose]();
  });

  const open = async (page: Page, screen: string): Promise<void> => {
    await page.goto('about:blank');
    await page.goto(`${world.server.url}/console#/${screen}`);
    await page.waitForSelector('main:not(:has(.loading, [data-fanfare="skeleton"])) > *');
    await settled(page);
  };

  test.each([...SCREENS, 'action'])(
    'all of %s is reached and seen, nothing that is pressed loses the focus, and Escape leads back',
    async (name) => {
      const screen = name === 'action' ? `action/${encodeURIComponent(id)}` : name;
      await using visited = await world.visit(`#/${screen}`);
      const { page, errors } = visited;
      await counted(page);
      await open(page, screen);
      const wrong = await walk(page, 'body');
      for (const focus of await controls(page, 'main')) {
        await open(page, screen);
        if (await focus()) wrong.push(...(await pressed(page, await focused(page))));
      }
      expect(wrong).toEqual([]);
      expect(errors).toEqual([]);
    },
  );

  /** By Enter on what a selector finds. */
  const press = async (page: Page, selector: string, key: 'Enter' | 'Space' = 'Enter'): Promise<void> => {
    await page.locator(selector).waitHandle();
    await page.focus(selector);
    await page.keyboard.press(key);
    await settled(page);
    expect(await focused(page), selector).not.toBe('nothing');
  };

  test('who takes something out, or back, goes on from there', async () => {
    await using visited = await world.visit('#/feed');
    const { page, errors } = visited;
    await counted(page);
    await open(page, 'feed');
    await press(page, 'article:nth-of-type(2) button[data-fanfare="more"]');
    expect(await focused(page)).toBe('button Copy link');
    await page.keyboard.press('ArrowDown');
    expect(await focused(page)).toBe('button Hide this');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[data-fanfare="undo"] button');
    expect(await focused(page)).not.toBe('nothing');
    await press(page, '[data-fanfare="undo"] button');
    await open(page, 'moderation');
    await press(page, 'main input[type="checkbox"]', 'Space');
    await press(page, '::-p-xpath(//main//button[. = "Hide 1"])');
    expect(await focused(page)).toBe('button Hide');
    await press(page, '::-p-xpath(//main//button[. = "Undo"])');
    await open(page, 'moderation/reports');
    await press(page, '::-p-xpath(//main//button[. = "Dismiss …"])');
    expect(await focused(page)).toBe('button Cancel');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.$('::-p-xpath(//main//button[. = "Dismiss …"])'), WAIT).toBeNull();
    await settled(page);
    expect(await focused(page)).not.toBe('nothing');
    expect(errors).toEqual([]);
  });
});
