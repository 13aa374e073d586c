import type { HTTPRequest, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clickOn, fillIn, findBrowser, textOf } from '../support/browser.ts';
import {
  WAIT,
  axeViolationsInBoth,
  click,
  has,
  openConsole,
  picture,
  type ConsoleWorld,
} from '../support/console.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { openShared } from '../support/spare-databases.ts';
import { isLeftOut } from '../support/needed.ts';

const found = await findBrowser();
const ADMIN = { sub: 'demo', roles: ['admin', 'service'] as const };

describe.skipIf(isLeftOut(typeof found !== 'string'))('the console for operators', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await openConsole(found);
    await upsert(world.app, {
      members: [
        { memberId: 'john', name: 'John Doe' },
        { memberId: 'rita', name: 'Rita Moreau' },
      ],
      pairs: [{ followerId: 'rita', refId: 'john' }],
    });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const rowOf = (title: string, actorId = 'john') => ({
    actorId,
    descriptor: { posted: { postId: `post:${title}`, postTitle: title } },
  });
  const post = (title: string, actorId?: string): Promise<string> =>
    publish(world.app, rowOf(title, actorId));
  const postAll = async (name: string, count: number): Promise<void> => {
    const inputs = Array.from({ length: count }, (_, n) => rowOf(`${name} ${String(n)}.`));
    for (let from = 0; from < count; from += 100)
      await ask(
        world.app,
        'mutation ($inputs: [PublishActionInput!]!) { publishActions(inputs: $inputs) { isReplay } }',
        { inputs: inputs.slice(from, from + 100) },
      );
  };
  const goTo = (page: Page, hash: string): Promise<unknown> => page.evaluate(`location.hash = '#/${hash}'`);
  const rowText = (page: Page, title: string): Promise<unknown> =>
    page.evaluate(
      `[...document.querySelectorAll('.actions li')].find((one) => one.textContent.includes('${title}'))?.textContent`,
    );

  test("the inspector says why each action is or is not in a member's feed, and follows changes", async () => {
    const id = await post('Merlin');
    await post('Hobby', 'sue');
    await world.app.idle();
    await using visited = await world.visit('#/inspector');
    const { page, errors } = visited;
    await fillIn(page, 'input[name="id"]', 'rita');
    await click(page, 'Look');
    await expect.poll(() => rowText(page, 'Merlin'), WAIT).toMatch(/In this feedThe reader follows John Doe/);
    expect(await rowText(page, 'Hobby')).toMatch(
      /Not in this feed.*Because nothing brings it into this feed/,
    );
    await ask(
      world.app,
      'mutation ($id: ID!) { hideFeedItem(actionId: $id) { actionId } }',
      { id },
      { sub: 'rita' },
    );
    await expect
      .poll(() => rowText(page, 'Merlin'), WAIT)
      .toMatch(/Not in this feed.*Because the reader has hidden it/);
    await post('Peregrine');
    await expect.poll(() => rowText(page, 'Peregrine'), WAIT).toMatch(/In this feedThe reader follows/);
    // The one of the documentation.
    await page.setViewport({ width: 1100, height: 480 });
    await picture(page, 'console-inspector');
    await clickOn(page, '::-p-xpath(//a[. = "In the feed"])');
    await expect.poll(() => rowText(page, 'Peregrine'), WAIT).toMatch(/In this feed/);
    await expect.poll(() => textOf(page), WAIT).not.toContain('Hobby');
    expect(await page.evaluate('location.hash')).toBe('#/inspector/rita?show=in');
    expect(await axeViolationsInBoth(page, (value) => picture(page, `inspector-${value}`))).toEqual({});
    await page.setViewport({ width: 390, height: 780 });
    await picture(page, 'inspector-phone');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    expect(errors).toEqual([]);
  });

  test("an action shows its log, counts and comments, and why it is in another member's feed", async () => {
    const id = await post('Falcon');
    await world.app.idle();
    for (const kind of ['LIKE', 'RESHARE'])
      await ask(
        world.app,
        'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { isReplay } }',
        { input: { actionId: id, kind } },
        { sub: 'rita' },
      );
    await using visited = await world.visit(`#/action/${encodeURIComponent(id)}`);
    const { page, errors } = visited;
    await has(page, '1 like1 reshare');
    await fillIn(page, 'input[name="reader"]', 'rita');
    await page.keyboard.press('Enter');
    await has(page, 'The reader follows John Doe');
    await fillIn(page, 'textarea', 'Seen');
    await click(page, 'Send');
    await has(page, 'Seen', '[data-fanfare="comments"] li');
    await ask(
      world.app,
      'mutation ($id: ID!) { hideAction(id: $id, reason: "Not here") { id } }',
      { id },
      ADMIN,
    );
    await has(page, 'Not here');
    expect(errors).toEqual([]);
  });

  test('moderation keeps list and position, and has its filters and page in the address', async () => {
    await postAll('Many', 70);
    await world.app.idle();
    await using visited = await world.visit('#/moderation');
    const { page, errors } = visited;
    await has(page, 'Many 69.');
    await clickOn(page, '::-p-xpath(//li[contains(., "Many 45.")]//input)');
    const before = Number(await page.evaluate('scrollY'));
    expect(before).toBeGreaterThan(300);
    await page.evaluate(
      'window.first = document.querySelector(".actions li"); window.gone = 0; new MutationObserver(() => { if (!first.isConnected) gone += 1; }).observe(document.body, { childList: true, subtree: true })',
    );
    await page.evaluate(
      "[...document.querySelectorAll('button')].find((one) => one.textContent === 'Hide 1').click()",
    );
    await expect.poll(() => rowText(page, 'Many 45.'), WAIT).toContain('hidden');
    expect(await page.evaluate('[scrollY, gone]')).toEqual([before, 0]);
    await page.evaluate('window.scrollTo(0, document.body.scrollHeight)');
    await clickOn(page, '::-p-xpath(//a[. = "Earlier"])');
    await has(page, 'Many 30.');
    expect(await page.evaluate('location.hash')).toContain('after=');
    await page.reload();
    await has(page, 'Many 30.');
    await page.goBack();
    await has(page, 'Many 69.');
    await post('By Sue', 'sue');
    await fillIn(page, 'input[name="actor"]', 'sue');
    await clickOn(page, '::-p-xpath(//form[@aria-label="Which actions"]//button)');
    await has(page, 'By Sue');
    expect(await page.evaluate('location.hash')).toBe('#/moderation?actor=sue');
    expect(await textOf(page, '.actions')).not.toContain('Many');
    expect(errors).toEqual([]);
  });

  test('what members report is taken, hidden or dismissed; moderators see that alone, and not who has reported', async () => {
    const report = (sub: string, of: Readonly<Record<string, unknown>>): Promise<unknown> =>
      ask(
        world.app,
        'mutation ($actionId: ID, $interactionId: ID, $memberId: String, $reason: String!, $text: String) { report(actionId: $actionId, interactionId: $interactionId, memberId: $memberId, reason: $reason, text: $text) { id } }',
        of,
        { sub },
      );
    const open = { ...rowOf('Cheap watches'), scope: 'PUBLIC' };
    const actionId = await publish(world.app, open);
    await report('rita', { actionId, reason: 'spam', text: 'The third time today' });
    await report('tom', { actionId, reason: 'fraud' });
    await report('tom', { memberId: 'john', reason: 'rude' });
    const { addInteraction } = await ask<{ addInteraction: { interaction: { id: string } } }>(
      world.app,
      'mutation ($actionId: ID!) { addInteraction(input: { actionId: $actionId, kind: COMMENT, text: "Insults" }) { interaction { id } } }',
      { actionId: await publish(world.app, { ...rowOf('Innocent'), scope: 'PUBLIC' }) },
      { sub: 'rita' },
    );
    const { id: interactionId } = addInteraction.interaction;
    await report('tom', { interactionId, reason: 'insult' });
    await ask(
      world.app,
      'mutation ($id: ID!) { removeInteraction(input: { id: $id }) { interaction { id } } }',
      { id: interactionId },
      { sub: 'rita' },
    );
    await using visited = await world.visit('#/moderation');
    const { page, errors } = visited;
    await clickOn(page, '::-p-xpath(//main//a[. = "Reports"])');
    const first = '.reports > li:first-child';
    await has(page, '2 reports', first);
    for (const text of ['Cheap watches', 'spam', 'The third time today', 'Rita Moreau', 'fraud', 'tom'])
      await has(page, text, first);
    expect(await axeViolationsInBoth(page, (value) => picture(page, `reports-${value}`))).toEqual({});
    const inCard = (title: string, button: string) =>
      clickOn(
        page,
        `::-p-xpath(//ul[@aria-label="Reports"]/li[contains(., "${title}")]//button[. = "${button}"])`,
      );
    // Of a comment that was removed since, the post that held it must not be hidden instead.
    await has(page, 'insult', '.reports');
    const ofComment = await page.evaluate(
      `[...document.querySelectorAll('.reports > li')].find((one) => one.textContent.includes('insult')).textContent`,
    );
    expect(ofComment).toContain('It is gone.');
    expect(ofComment).not.toContain('Hide it');
    // What is reported more often comes before it, and waits: nothing moves under the pointer.
    const worse = await publish(world.app, { ...rowOf('Dear watches'), scope: 'PUBLIC' });
    for (const sub of ['rita', 'tom', 'sue']) await report(sub, { actionId: worse, reason: 'spam' });
    await inCard('Cheap watches', 'Take');
    await has(page, 'taken by demo', first);
    await has(page, '1 new', '[data-fanfare="new-items"]');
    expect(await textOf(page, '.reports')).not.toContain('Dear watches');
    await click(page, '1 new');
    await has(page, 'Dear watches', '.reports');
    // Somebody else has nothing to take, and sees neither who has reported nor what else there is to moderate.
    const moderator = await page.browserContext().newPage();
    await moderator.goto(page.url());
    const token = JSON.stringify(await world.app.token('mona', ['moderator']));
    await moderator.evaluate(`sessionStorage.setItem('fanfare:token', ${token})`);
    await moderator.reload();
    await has(moderator, 'Cheap watches', '.reports');
    expect(await textOf(moderator, '.reports')).not.toContain('Rita');
    expect(await textOf(moderator, 'nav')).not.toContain('Webhooks');
    await moderator.close();
    const note = '::-p-xpath(//ul[@aria-label="Reports"]/li[contains(., "Cheap watches")]//input)';
    await fillIn(page, note, 'No advertisements');
    const confirm = (button: string) =>
      clickOn(page, `::-p-xpath(//*[@role="alertdialog"]//button[. = "${button}"])`);
    await inCard('Cheap watches', 'Hide it …');
    await has(page, 'No advertisements', '[role="alertdialog"]');
    await confirm('Hide');
    await has(page, 'Resolved by demo', '.reports');
    await has(page, 'No advertisements', '.reports');
    // By keys, of the report that has the focus; of a member there is nothing to hide.
    await page.focus('main');
    const isAt = () => page.evaluate("document.activeElement.textContent.includes('as a member')");
    await page.keyboard.press('j');
    for (let step = 0; step < 5 && (await isAt()) !== true; step += 1) await page.keyboard.press('j');
    expect(await isAt()).toBe(true);
    await page.keyboard.press('h');
    expect(await page.$('[role="alertdialog"]')).toBeNull();
    await page.keyboard.press('d');
    await confirm('Dismiss');
    await has(page, 'Nothing had to be done', '.reports');
    await clickOn(page, '::-p-xpath(//main//a[. = "Dismissed"])');
    await expect.poll(() => textOf(page, '.reports'), WAIT).not.toContain('Cheap watches');
    const { action } = await ask<{ action: { isHidden: boolean } }>(
      world.app,
      'query ($id: ID!) { action(id: $id) { isHidden } }',
      { id: actionId },
      ADMIN,
    );
    expect(action.isHidden).toBe(true);
    expect(errors).toEqual([]);
  });

  test('content is moderated by keys alone: J and K go through the list, H hides what has the focus, D asks before it deletes', async () => {
    await postAll('Keyed', 3);
    await world.app.idle();
    await using visited = await world.visit('#/moderation');
    const { page, errors } = visited;
    await has(page, 'Keyed 2.');
    expect(await page.evaluate("document.querySelector('[list]').list.options[0].value")).toBe('Spam');
    // Letters of a reason are no commands.
    await page.focus('[list]');
    await page.keyboard.type('jhd');
    await page.focus('main');
    const focused = () => page.evaluate("document.activeElement.getAttribute('aria-label') ?? ''");
    // Nobody is at a row: nothing is hidden.
    await page.keyboard.press('h');
    await page.keyboard.press('j');
    expect(await focused()).toContain('Keyed 2.');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    expect(await focused()).toContain('Keyed 1.');
    await page.keyboard.press('h');
    await expect.poll(() => rowText(page, 'Keyed 1.'), WAIT).toContain('hidden');
    expect(await rowText(page, 'Keyed 2.')).not.toContain('hidden');
    await has(page, 'jhd', '.card');
    await page.keyboard.press('j');
    await page.keyboard.press('d');
    await has(page, 'Keyed 0.', '[role="alertdialog"]');
    await page.keyboard.press('h');
    await clickOn(page, '[role="alertdialog"] button.main');
    await expect.poll(() => textOf(page, '.actions'), WAIT).not.toContain('Keyed 0.');
    expect(await rowText(page, 'Keyed 2.')).not.toContain('hidden');
    expect(errors).toEqual([]);
  });

  test('support sees for each kind of event why a member was notified of an action or not', async () => {
    const actionId = await publish(world.app, {
      ...rowOf('Hear ye', 'sue'),
      mentions: ['rita'],
      scope: 'PUBLIC',
    });
    await world.app.idle();
    await using visited = await world.visit('#/member/rita');
    const { page, errors } = visited;
    await clickOn(page, '::-p-xpath(//a[. = "Why notified"])');
    await fillIn(page, 'input[name="action"]', actionId);
    await click(page, 'Look');
    const row = (kind: string): Promise<string> =>
      page.evaluate(
        `[...document.querySelectorAll('tr')].find((one) => one.textContent.startsWith('${kind}'))?.textContent ?? ''`,
      ) as Promise<string>;
    await has(page, 'Mention');
    await expect.poll(() => row('Mention'), WAIT).toContain('Yes');
    expect(await row('Mention')).toMatch(/not seen.*In app/);
    expect(await row('Comment')).toMatch(/^CommentNo.*nothing of this kind has happened/);
    expect(await axeViolationsInBoth(page, (value) => picture(page, `notified-${value}`))).toEqual({});
    expect(errors).toEqual([]);
  });

  test('a member shows follows, mutes, blocks and wishes as lists', async () => {
    for (const document of [
      'addMute(target: { phrase: "noise" }) { unreadCount { count } }',
      'blockMember(memberId: "tom") { memberId }',
      'setNotificationPreferences(preferences: [{ kind: LIKE, channel: IN_APP, isOn: false }]) { memberId }',
      'setQuietHours(from: "22:00", to: "07:00", timeZone: "Europe/Berlin") { memberId }',
    ])
      await ask(world.app, `mutation { ${document} }`, {}, { sub: 'rita' });
    await using visited = await world.visit('#/member/rita');
    const { page } = visited;
    await click(page, 'Show');
    await has(page, 'john', '[aria-label="Follows"]');
    await has(page, 'phrase noise', '[aria-label="Mutes"]');
    await has(page, 'tom', '[aria-label="Blocks"]');
    await has(page, 'Like: In app off', '[aria-label="Preferences"]');
    await has(page, 'Quiet from 22:00 to 07:00 in Europe/Berlin');
    await clickOn(page, '::-p-xpath(//a[. = "Why in feed"])');
    await has(page, 'Inspector', 'h1');
  });

  test("the tail catches up with what it knows, whatever arrived at once, and a thing's page can be followed", async () => {
    await post('Before the flood');
    await using visited = await world.visit('#/tail');
    const { page, errors } = visited;
    await has(page, 'Before the flood');
    await page.locator('.tail li').hover();
    await has(page, 'Paused, 0 waiting');
    await postAll('Flood', 250);
    await has(page, 'Paused, 250 waiting');
    await goTo(page, 'slice/sue');
    // It is shown before it has reached the server.
    const stored = page.waitForResponse(
      async (response) => (await response.request().fetchPostData())?.includes('mutation') === true,
    );
    await click(page, 'Follow');
    await has(page, 'Following');
    await has(page, 'sue');
    await stored;
    await page.reload();
    await has(page, '1 followerFollowing');
    expect(errors).toEqual([]);
  });

  test('counts failures beyond the first hundred and retries them with the rest', async () => {
    await world.app.idle();
    const { actions } = (await openShared(world.app.database)).collections;
    const latest = await actions.find().sort({ _id: -1 }).limit(130).toArray();
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
    await has(page, '100+ failed fan-outs');
    await click(page, 'Retry all');
    await has(page, 'Retry 130 failed fan-outs?', '[role="alertdialog"]');
    await clickOn(page, '[role="alertdialog"] button.main');
    await has(page, '130 of 130 tried again');
    await expect.poll(() => actions.countDocuments({ ...failed, 'fanOut.state': 'DONE' }), WAIT).toBe(130);
  });

  test('the overview has the past hour when it is opened, with a gap where nothing ran', async () => {
    const { samples } = world.app.app.core;
    const nothing = await createMetrics({ withProcess: false }).totals();
    const halfAnHourAgo = Date.now() - 1_800_000;
    for (const later of [0, 10_000, 60_000])
      await samples?.add(
        { ...nothing, published: 1_000 },
        () => Promise.resolve(later / 1_000),
        halfAnHourAgo + later,
      );
    await using visited = await world.visit('#/overview');
    const { page } = visited;
    const plot = (title: string): string => `.plot:has(canvas) [aria-label^="${title} over time"]`;
    const points = (): Promise<unknown> =>
      page.evaluate(`document.querySelector('${plot('Published')}')?.dataset.points`);
    // Three samples, and the gap between the second and the third.
    await expect.poll(async () => Number(await points()), WAIT).toBeGreaterThanOrEqual(4);
    await picture(page, 'overview-light');
  });

  test('shows errors on each screen without axe-core violations, and recovers by a click, also from lost connections', async () => {
    await using visited = await world.visit('#/publish');
    const { page } = visited;
    await has(page, 'Audience');
    let fails = true;
    await page.setRequestInterception(true);
    page.on('request', (request) => void answer(request));
    async function answer(request: HTTPRequest): Promise<void> {
      if (fails && request.url().endsWith('/graphql') && request.method() === 'POST')
        await request.respond({
          contentType: 'application/json',
          body: JSON.stringify({ errors: [{ message: 'It broke', extensions: { code: 'INTERNAL' } }] }),
        });
      else await request.continue();
    }
    const wrong: Record<string, unknown> = {};
    for (const screen of [
      'feed',
      'slice/john',
      'tail',
      'inspector/rita',
      'moderation',
      'member/rita',
      'webhooks',
    ]) {
      fails = true;
      await goTo(page, screen);
      await has(page, 'It broke');
      const seen = await axeViolationsInBoth(page);
      if (Object.keys(seen).length > 0) wrong[screen] = seen;
      expect(await textOf(page, 'main'), screen).not.toContain('Nothing yet.');
      fails = false;
      await expect
        .poll(async () => {
          await page.evaluate(
            "[...document.querySelectorAll('[role=alert] button')].forEach((button) => button.click())",
          );
          return textOf(page, 'main');
        }, WAIT)
        .not.toContain('It broke');
    }
    await world.server.close();
    await has(page, 'Connecting again', 'body');
    const lost = await axeViolationsInBoth(page, (value) => picture(page, `lost-${value}`));
    await world.serveAgain();
    expect([wrong, lost]).toEqual([{}, {}]);
  });
});
