import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clickOn, fillIn, findBrowser, ofBrowser, openPage, textOf } from '../support/browser.ts';
import { axeViolations, has, picture, WAIT } from '../support/console.ts';
import { isLeftOut } from '../support/needed.ts';
import { serveReactPages, type ReactPages } from '../support/react-pages.ts';

const found = await findBrowser();
const WRITE = '[data-fanfare="comments"] > [data-fanfare="composer"] textarea';

describe.skipIf(isLeftOut(typeof found !== 'string'))('writing with the parts', () => {
  let browser: Browser;
  let pages: ReactPages;
  beforeAll(async () => {
    browser = ofBrowser(found);
    // The pages have clients of tests: there is no server.
    pages = await serveReactPages('http://127.0.0.1:9', () => Promise.resolve('none'));
  });
  afterAll(async () => {
    await browser.close();
    await pages[Symbol.asyncDispose]();
  });

  const options = (page: Page): Promise<string[]> =>
    page.$$eval('[role="option"]', (all) => all.map(({ textContent }) => textContent));
  const active = (page: Page): Promise<unknown> =>
    page.evaluate(
      `document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.querySelector('bdi').textContent`,
    );
  const press = (page: Page, text: string, within = ''): Promise<void> =>
    clickOn(page, `::-p-xpath(${within}//button[normalize-space(.)="${text}"])`);
  const valueOf = (page: Page, selector = WRITE): Promise<unknown> =>
    page.$eval(selector, (area) => (area as unknown as { value: string }).value);

  test('somebody is mentioned by keys alone, and a screen reader hears how many there are', async () => {
    await using visited = await openPage(browser, pages.composing);
    const { page, errors } = visited;
    await page.waitForSelector(WRITE);
    await page.focus(WRITE);
    await page.keyboard.type('Look, @be');
    await expect.poll(() => options(page), WAIT).toHaveLength(2);
    expect(await active(page)).toBe('Bea Costa');
    const field = await page.accessibility.snapshot({ root: await page.locator(WRITE).waitHandle() });
    expect(field).toMatchObject({ role: 'textbox', name: 'Write a comment', haspopup: 'listbox' });
    expect(await textOf(page, '[data-fanfare="composer"] [role="status"]')).toBe(
      '2 people, up and down to choose',
    );
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press('ArrowDown');
    expect(await active(page)).toBe('Ben Okoro');
    await page.keyboard.press('ArrowDown');
    expect(await active(page)).toBe('Bea Costa');
    // Closed, the keys are those of the text again.
    await page.keyboard.press('Escape');
    await expect.poll(() => options(page), WAIT).toEqual([]);
    await page.keyboard.type('n');
    await expect.poll(() => options(page), WAIT).toHaveLength(1);
    await page.keyboard.press('Enter');
    expect(await valueOf(page)).toBe('Look, @Ben Okoro ');
    await page.keyboard.type('here');
    await page.keyboard.down('Control');
    await page.keyboard.press('Enter');
    await page.keyboard.up('Control');
    await has(page, 'Look, @Ben Okoro here', '[data-fanfare="comments"] li');
    expect(await page.evaluate('sent[0]')).toMatchObject({ text: 'Look, @Ben Okoro here', mentions: ['m1'] });
    expect(errors).toEqual([]);
  });

  test('from right to left the people stand below the whole field, and a name goes where the text is', async () => {
    await using visited = await openPage(browser, `${pages.composing}?rtl`);
    const { page } = visited;
    await page.waitForSelector(WRITE);
    await page.focus(WRITE);
    await page.keyboard.type('שלום @دن');
    await expect.poll(() => options(page), WAIT).toHaveLength(1);
    const boxes = (await page.evaluate(
      `['[role="listbox"]', '[data-fanfare="composer"]'].map((one) => document.querySelector(one).getBoundingClientRect().toJSON())`,
    )) as { left: number; right: number; top: number; bottom: number }[];
    const [list, field] = boxes;
    expect(Math.abs((list?.right ?? 0) - (field?.right ?? 9))).toBeLessThanOrEqual(2);
    expect(Math.abs((list?.left ?? 0) - (field?.left ?? 9))).toBeLessThanOrEqual(2);
    expect(list?.top).toBeGreaterThanOrEqual(field?.bottom ?? Infinity);
    await clickOn(page, '[role="option"]');
    expect(await valueOf(page)).toBe('שלום @دنيا نور ');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA');
  });

  test('replies stand under what they reply to; own comments are edited, and an edit that fails comes back', async () => {
    await using visited = await openPage(browser, pages.composing);
    const { page } = visited;
    await has(page, 'An answer', 'li li');
    // Only one's own.
    expect(
      await page.$$eval('button', (all) => all.filter(({ textContent }) => textContent === 'Edit').length),
    ).toBe(1);
    await press(page, 'Edit');
    const edited = '[data-fanfare="comments"] li textarea';
    expect(await valueOf(page, edited)).toBe('Mine');
    const write = async (text: string): Promise<void> => {
      await page.$eval(edited, (area) => (area as unknown as { select(): void }).select());
      await page.keyboard.type(text);
    };
    await write('refused');
    await press(page, 'Save');
    await has(page, 'It was not saved', '[role="alert"]');
    expect(await valueOf(page, edited)).toBe('refused');
    await write('Better');
    await press(page, 'Save');
    await has(page, 'Better', 'li');
    await has(page, 'edited', 'li');
    expect(await axeViolations(page)).toEqual([]);
    await press(page, 'Reply', '//li[.//strong="Bea Costa"]');
    await page.keyboard.type('Me too');
    await press(page, 'Reply', '//form');
    await has(page, 'Me too', 'li li');
    expect(await page.evaluate('sent.at(-1)')).toMatchObject({ parentId: 'other', text: 'Me too' });
  });

  test('the menu of an item is used by keys; what it takes away comes back by the toast, and a report is confirmed', async () => {
    await using visited = await openPage(browser, pages.composing);
    const { page, errors } = visited;
    const menu = '[role="menu"]:popover-open';
    const focused = (): Promise<unknown> => page.evaluate('document.activeElement.textContent');
    const open = async (): Promise<void> => {
      await page.locator('[data-fanfare="more"]').waitHandle();
      await page.focus('[data-fanfare="more"]');
      await page.keyboard.press('Enter');
      await expect.poll(focused, WAIT).toBe('Copy link');
    };
    await open();
    expect(await axeViolations(page, { within: menu })).toEqual([]);
    await page.keyboard.press('End');
    expect(await focused()).toBe('Report …');
    await page.keyboard.press('ArrowDown');
    expect(await focused()).toBe('Copy link');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.$(menu), WAIT).toBeNull();
    await open();
    await page.keyboard.press('End');
    // Closed and opened at once: the browser says it once.
    await page.evaluate(`document.querySelector('${menu}').hidePopover(), document.activeElement.click()`);
    await expect.poll(focused, WAIT).toBe('Copy link');
    for (let down = 0; down < 4; down += 1) await page.keyboard.press('ArrowDown');
    expect(await focused()).toBe('Mute Ada');
    await page.keyboard.press('Enter');
    await has(page, 'Nothing here.', 'main');
    await has(page, 'Muted', '[data-fanfare="undo"]');
    await press(page, 'Undo');
    await has(page, 'Ada did entry', 'article');
    await open();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await expect.poll(focused, WAIT).toBe('Spam');
    await page.keyboard.press('Enter');
    await has(page, 'Reported. Thank you.', 'article [role="status"]');
    expect(await page.evaluate('sent')).toEqual([
      { target: { memberId: 'ada' } },
      { actionId: 'action-entry', reason: 'spam' },
    ]);
    expect(errors).toEqual([]);
  });

  test('a text is scheduled for a time, and comes back with it when it is refused', async () => {
    await using visited = await openPage(browser, pages.composing);
    const { page, errors } = visited;
    const [within, field, time] = [
      '[aria-label="Post"]',
      '[aria-label="Post"] textarea',
      '[aria-label="Post"] input',
    ];
    const at = '2030-05-06T07:08';
    const write = async (text: string): Promise<void> => {
      await fillIn(page, field, text);
      await press(page, 'Later …', '//*[@aria-label="Post"]');
      await fillIn(page, time, at);
    };
    await write('refused');
    await picture(page, 'composer-later');
    expect(await axeViolations(page, { within })).toEqual([]);
    await press(page, 'Schedule', '//*[@aria-label="Post"]');
    await expect.poll(() => valueOf(page, field), WAIT).toBe('refused');
    expect(await valueOf(page, time)).toBe(at);
    await press(page, 'Now', '//*[@aria-label="Post"]');
    await write('Good morning');
    await press(page, 'Schedule', '//*[@aria-label="Post"]');
    await expect.poll(() => valueOf(page, field), WAIT).toBe('');
    await fillIn(page, field, 'Now');
    await press(page, 'Send', '//*[@aria-label="Post"]');
    const publishAt = await page.evaluate(`new Date(${JSON.stringify(at)}).toISOString()`);
    await expect
      .poll(() => page.evaluate('sent'), WAIT)
      .toEqual([{ text: 'refused', publishAt }, { text: 'Good morning', publishAt }, { text: 'Now' }]);
    expect(errors).toEqual([]);
  });

  test('the bell has tabs, days, what the host lets one do, and settings; a toast gets what is new', async () => {
    await using visited = await openPage(browser, pages.composing);
    const { page, errors } = visited;
    const panel = '[data-fanfare="inbox"]:popover-open';
    await clickOn(page, '[data-fanfare="bell"]');
    await has(page, 'Ada commented on old', panel);
    const days = await page.$$eval(`${panel} [data-fanfare="day"]`, (all) =>
      all.map(({ textContent }) => textContent),
    );
    expect(days).toEqual(['today', 'Friday, January 2']);
    expect(await axeViolations(page, { within: panel })).toEqual([]);
    await press(page, 'Unread', '//*[@data-fanfare="inbox"]');
    await expect.poll(() => page.$$(`${panel} article`), WAIT).toHaveLength(1);
    await press(page, 'Accept');
    await clickOn(page, `${panel} [data-fanfare="more"]`);
    await press(page, 'Mark as read', '//*[@role="menu"]');
    await press(page, 'Settings');
    const mail = `${panel} input[aria-label="Likes: Mail"]`;
    await clickOn(page, mail);
    await clickOn(page, `${panel} [data-fanfare="quiet-hours"] input`);
    await expect.poll(() => page.$$(`${panel} input[type="time"]`), WAIT).toHaveLength(2);
    expect(await axeViolations(page, { within: panel })).toEqual([]);
    await has(page, 'No mails are sent to your address', panel);
    await press(page, 'Send mails again');
    await expect.poll(() => page.$$(`${panel} [data-fanfare="no-mails"]`), WAIT).toHaveLength(0);
    await page.evaluate('notify()');
    await expect
      .poll(() => page.evaluate('sent'), WAIT)
      .toEqual([
        'accepted',
        { ids: ['new'] },
        { preferences: [{ kind: 'LIKE', channel: 'EMAIL', isOn: true }] },
        expect.objectContaining({ from: '22:00', to: '07:00' }),
        'resumed',
        'toast for live',
      ]);
    expect(errors).toEqual([]);
  });

  test('the parts speak German if the provider has its words', async () => {
    await using visited = await openPage(browser, `${pages.composing}?german`);
    const { page } = visited;
    await has(page, 'Antworten', 'button');
    expect(await page.$eval(WRITE, (area) => area.getAttribute('placeholder'))).toBe('Kommentar schreiben');
    expect(await textOf(page, '[data-fanfare="comments"]')).not.toMatch(/Reply|Edit\b|Delete|Send\b|More/);
  });
});
