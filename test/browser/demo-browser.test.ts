import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MEMBERS } from '../../parts/demo/src/people.ts';
import { clickOn, fillIn, findBrowser, textOf } from '../support/browser.ts';
import { ask, upsert } from '../support/feed-api.ts';
import { isLeftOut } from '../support/needed.ts';
import {
  click,
  axeViolationsInBoth,
  has,
  openConsole,
  picture,
  WAIT,
  type ConsoleWorld,
} from '../support/console.ts';

const found = await findBrowser();

describe.skipIf(isLeftOut(typeof found !== 'string'))('the demo page', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await openConsole(found, (app) =>
      Promise.resolve({
        demoPeople: () =>
          Promise.all(
            MEMBERS.map(async ({ memberId, name }) => ({ memberId, name, token: await app.token(memberId) })),
          ),
      }),
    );
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const feedOf = (page: Page, side: 'left' | 'right'): Promise<string> =>
    textOf(page, `[data-side="${side}"] [role="feed"]`);
  const arrived = (page: Page): Promise<string> => textOf(page, '.arrivals tbody tr:first-child');

  test('changes both feeds by one click, and loses nothing that is published while the network is cut', async () => {
    await upsert(world.app, { members: [{ memberId: 'hugo', name: 'Our Hugo' }] });
    await using visited = await world.visit('/demo');
    const { page, errors } = visited;
    await has(page, 'Nothing here yet.', '[data-side="right"]');
    await click(page, 'A rating');
    for (const side of ['left', 'right'] as const)
      await expect.poll(() => feedOf(page, side), WAIT).toContain('John Doe rated Noor Haddad');
    await expect.poll(() => arrived(page), WAIT).toMatch(/^\d+ ms\d+ ms$/);
    const bell = await page.locator('[data-side="left"] [data-fanfare="bell"]').waitHandle();
    await expect
      .poll(() => bell.evaluate((button) => button.getAttribute('aria-label')), WAIT)
      .toBe('Notifications, 1 new');
    // Whom the host has described keeps the name.
    const { hugo } = await ask<object & { readonly hugo: unknown }>(
      world.app,
      '{ hugo: member(memberId: "hugo") { name } }',
    );
    expect(hugo).toEqual({ name: 'Our Hugo' });
    await click(page, 'Cut the network');
    await has(page, 'Connecting again', '[data-side="left"]');
    for (const kind of ['A post', 'A hire', 'Your own']) await click(page, kind);
    await has(page, 'Published meanwhile: 3', '[data-side="actor"]');
    expect(await feedOf(page, 'left')).not.toContain('hired');
    await click(page, 'Connect now');
    await has(page, 'Published since the cut: 3, lost: none', '[data-side="actor"]');
    for (const side of ['left', 'right'] as const) expect(await feedOf(page, side)).toContain('hired');
    await clickOn(page, '[data-side="left"] button[data-fanfare="toggle"]');
    await expect
      .poll(() => textOf(page, '[data-side="right"] article:first-child'), WAIT)
      .toContain('Like 1');
    await clickOn(page, '[data-side="left"] article:first-child [data-fanfare="reactions"] [aria-expanded]');
    await fillIn(page, '[data-side="left"] textarea', 'Well done');
    await clickOn(page, '[data-side="left"] article:first-child [type="submit"]');
    await expect
      .poll(() => textOf(page, '[data-side="right"] article:first-child'), WAIT)
      .toContain('Comments 1');
    await clickOn(page, '[data-side="left"] article:first-child [data-fanfare="reactions"] [aria-expanded]');
    // The one of the README.
    await page.setViewport({ width: 1100, height: 610 });
    await picture(page, 'demo');
    expect(errors).toEqual([]);
  });

  test('shows the feed of any chosen person, has no axe-core violation, and fits a phone', async () => {
    await using visited = await world.visit('/demo');
    const { page, errors } = visited;
    await fillIn(page, '[data-side="left"] select', 'hugo');
    await has(page, 'Nothing here yet.', '[data-side="left"]');
    await click(page, 'An application');
    await expect.poll(() => feedOf(page, 'left'), WAIT).toContain('applied');
    expect(await page.$$('[data-side="left"] option')).toHaveLength(MEMBERS.length);
    expect(await axeViolationsInBoth(page, (value) => picture(page, `demo-${value}`))).toEqual({});
    await page.setViewport({ width: 390, height: 780 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    await picture(page, 'demo-phone');
    expect(errors).toEqual([]);
  });

  test('gives the tokens of its people only to the user who started the server', async () => {
    const url = `${world.server.url}/console/demo`;
    expect(await (await fetch(url)).text()).toMatch(/name="fanfare-demo" content="\w+/);
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    expect(await (await fetch(url, { headers })).text()).toContain('name="fanfare-demo" content=""');
    expect((await fetch(`${url}.html`)).status).toBe(404);
  });
});
