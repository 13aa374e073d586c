import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FOLLOWS, MEMBERS, REFS } from '../../parts/demo/src/people.ts';
import { liveAction, story } from '../../parts/demo/src/story.ts';
import { clickOn, fillIn, findBrowser, textOf } from '../support/browser.ts';
import { choose, click, has, openConsole, picture, WAIT, type ConsoleWorld } from '../support/console.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { isLeftOut } from '../support/needed.ts';

const found = await findBrowser();
const RITA = { sub: 'rita' };

describe.skipIf(isLeftOut(typeof found !== 'string'))('what a person looks for in the console', () => {
  let world: ConsoleWorld;
  let id = '';
  beforeAll(async () => {
    world = await openConsole(found);
    await upsert(world.app, {
      members: [
        { memberId: 'rita', name: 'Rita Moreau' },
        { memberId: 'john', name: 'John Doe' },
      ],
      pairs: ['demo', 'rita'].map((followerId) => ({ followerId, refId: 'john' })),
    });
    id = await publish(world.app, {
      actorId: 'john',
      descriptor: { posted: { postId: 'post:owl', postTitle: 'Owl', text: 'It was awake all night.' } },
      refs: [{ id: 'place:barn', type: 'place', label: 'The old barn' }],
    });
    await world.app.idle();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test('an item shows its text, says what lifted it, and has its comments with replies below it', async () => {
    await ask(
      world.app,
      'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { action { id } } }',
      { input: { actionId: id, kind: 'COMMENT', text: 'I have heard it' } },
      RITA,
    );
    await world.app.idle();
    await using visited = await world.visit('#/feed');
    const { page, errors } = visited;
    await has(page, 'It was awake all night.', 'article');
    await has(page, 'Rita Moreau commented', 'article .lifted');
    await has(page, 'Comments 1', 'article');
    await click(page, 'Comments');
    await has(page, 'I have heard it', 'article [data-fanfare="comments"]');
    await clickOn(page, 'article [data-fanfare="comments"] ::-p-xpath(.//button[. = "Reply"])');
    await fillIn(page, 'article li textarea', 'So have I');
    await clickOn(page, 'article li form button');
    await has(page, 'So have I', 'article li li');
    await picture(page, 'console-thread');
    expect(errors).toEqual([]);
  });

  test('what is snoozed from the menu of an item can be taken back', async () => {
    await using visited = await world.visit('#/feed');
    const { page } = visited;
    await has(page, 'Owl', '[role="feed"]');
    await choose(page, 'Snooze');
    await has(page, 'Snoozed', '[data-fanfare="undo"]');
    await click(page, 'Undo');
    await expect
      .poll(() => textOf(page, '[role="feed"], [data-fanfare="new-items"]'), WAIT)
      .toMatch(/Owl|1 new/);
  });

  test('people and things are found by a part of their names, in the directory, by Ctrl+K and in a field for an id', async () => {
    await using visited = await world.visit('#/directory');
    const { page, errors } = visited;
    await has(page, 'John Doe', '.actions');
    await fillIn(page, 'input[type="search"]', 'barn');
    await expect.poll(() => textOf(page, '.actions'), WAIT).toMatch(/^\S*The old barn\s*place:barn\s*place$/);
    await page.keyboard.down('Control');
    await page.keyboard.press('k');
    await page.keyboard.up('Control');
    await page.waitForSelector('.palette input:focus');
    await page.keyboard.type('old b');
    await has(page, 'The old barn place', '.palette [data-highlighted]');
    await page.keyboard.press('Enter');
    await has(page, 'The old barn', 'h2');
    await clickOn(page, 'a[href="#/inspector"]');
    await fillIn(page, 'input[name="id"]', 'John D');
    await clickOn(page, '.picks [role="option"]');
    await has(page, 'Owl', '.inspected');
    expect(await page.evaluate('location.hash')).toBe('#/inspector/john?show=all');
    expect(errors).toEqual([]);
  });

  test('a form has the labels of the descriptions, an id that was made, and the sentence in each language as it is typed', async () => {
    await using visited = await world.visit('#/publish/posted');
    const { page, errors } = visited;
    await has(page, 'Title of the post');
    expect(await page.evaluate("document.querySelector('.publish [name=postId]').value")).toMatch(
      /^post:\w+$/,
    );
    await fillIn(page, '.publish [name="postTitle"]', 'Heron');
    await has(page, 'John Doe posted Heron', '.preview [lang="en"]');
    await has(page, 'Heron veröffentlicht', '.preview [lang="de"]');
    await clickOn(page, 'a[href="#/types"]');
    await clickOn(page, '::-p-xpath(//nav[@aria-label="Types"]//a[. = "Posted"])');
    await has(page, 'postTitle', 'table');
    await has(page, 'John Doe posted Owl', '[lang="en"]');
    // The story is of now: the last of the days has it.
    await expect.poll(() => textOf(page, '.days li:last-child'), WAIT).toMatch(/^[1-9]\d*\d\d-\d\d$/);
    expect(await page.$$('.days li')).toHaveLength(14);
    expect(errors).toEqual([]);
  });

  test('an administrator likes, hides, shows and deletes on the page of an action', async () => {
    await using visited = await world.visit(`#/action/${encodeURIComponent(id)}`);
    const { page, errors } = visited;
    await has(page, 'Owl');
    await click(page, 'Like');
    await has(page, 'Like 1');
    await click(page, 'Hide from everybody');
    await has(page, 'hidden', '.meta');
    await click(page, 'Show to everybody again');
    await click(page, 'Delete …');
    await clickOn(page, '[role="alertdialog"] button.main');
    await has(page, 'Home', 'h1');
    await has(page, 'Nothing here.');
    expect(errors).toEqual([]);
  });

  test('eight items of the story fit the screen of a laptop, and groups show their people one over the other', async () => {
    await upsert(world.app, { members: MEMBERS, refs: REFS, pairs: FOLLOWS });
    await ask(
      world.app,
      'mutation ($inputs: [PublishActionInput!]!) { publishActions(inputs: $inputs) { isReplay } }',
      { inputs: [...story(), ...Array.from({ length: 60 }, (_, n) => liveAction('laptop', n))] },
    );
    await world.app.idle();
    await using visited = await world.visit('#/feed');
    const { page, errors } = visited;
    await page.setViewport({ width: 1366, height: 768 });
    await has(page, 'This is worth a minute of your time.', '[role="feed"]');
    const whole = await page.evaluate(
      "[...document.querySelectorAll('article')].filter((one) => one.getBoundingClientRect().bottom <= innerHeight).length",
    );
    expect(whole).toBeGreaterThanOrEqual(8);
    // The one of the documentation.
    await page.setViewport({ width: 1200, height: 700 });
    await picture(page, 'console-home');
    await clickOn(page, '::-p-xpath(//nav[@aria-label="Show"]//a[. = "Grouped"])');
    await page.waitForSelector('.actions .avatars [data-fanfare="avatar"] + [data-fanfare="avatar"]');
    await picture(page, 'console-groups');
    await page.setViewport({ width: 390, height: 780 });
    await clickOn(page, '::-p-xpath(//nav[@aria-label="Show"]//a[. = "All"])');
    await has(page, 'This is worth a minute of your time.', '[role="feed"]');
    await picture(page, 'console-home-phone');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    expect(errors).toEqual([]);
  });
});
