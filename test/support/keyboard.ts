import type { Page } from 'puppeteer-core';
import { expect } from 'vitest';
import { PATIENCE_MS } from './patience.ts';

const WAIT = { timeout: PATIENCE_MS, interval: 50 };
/** More stops than any page has controls. */
const MOST_STOPS = 400;

/**
 * In the page: what the keyboard has to reach, and what is said of it. A group of radio buttons is one stop, so is what moves its focus by
 * arrows: its others have a negative tabindex.
 */
const HELPERS = `window.keys ??= (() => {
  const FOCUSABLE = 'a[href], button, input, select, textarea, summary, [tabindex], [contenteditable]';
  const shown = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
  const isStop = (element) =>
    element.tabIndex >= 0 && !element.disabled && shown(element) && element.closest('[inert]') === null &&
    (element.type !== 'radio' || element.checked || document.querySelector('[name="' + element.name + '"]:checked') === null);
  const nameOf = (element) => {
    if (element === null || element === document.body) return 'nothing';
    const text = element.getAttribute('aria-label') ?? (element.matches('input, select, textarea') ? element.name || element.labels?.[0]?.textContent : element.textContent);
    return element.localName + ' ' + (text || element.title || element.className).trim().replace(/\\s+/g, ' ').slice(0, 40);
  };
  const seen = new WeakSet();
  let [last, held] = [null, null];
  const line = (style) => style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
  const hasRing = (element) => {
    for (let one = element; one !== null && one !== document.body; one = one.parentElement)
      if (['', '::before', '::after'].some((of) => line(getComputedStyle(one, of || null))) || getComputedStyle(one).boxShadow !== 'none' && one === element)
        return true;
    return false;
  };
  const isCovered = (element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    const inside = (x, y) => {
      const hit = document.elementFromPoint(Math.min(innerWidth - 1, Math.max(0, x)), Math.min(innerHeight - 1, Math.max(0, y)));
      return hit !== null && (element.contains(hit) || hit.contains(element) || hit.closest('label')?.contains(element) === true);
    };
    return ![0.5, 0.1, 0.9].some((x) => [0.5, 0.1, 0.9].some((y) => inside(left + (right - left) * x, top + (bottom - top) * y)));
  };
  const POPUPS = '[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]';
  return {
    look() {
      const { activeElement } = document;
      if (activeElement === null || activeElement === document.body) return null;
      // A field for a time has several stops.
      const isNew = activeElement === last || !seen.has(activeElement);
      last = activeElement;
      seen.add(activeElement);
      return { name: nameOf(activeElement), isNew, hasRing: hasRing(activeElement), isCovered: isCovered(activeElement) };
    },
    missed: (within) => [...document.querySelectorAll(within)].flatMap((root) => [...root.querySelectorAll(FOCUSABLE)])
      .filter((element) => isStop(element) && !seen.has(element)).map(nameOf),
    focused: () => nameOf(document.activeElement),
    hold: () => void (held = document.activeElement),
    isBack: () => document.activeElement === held,
    popups: () => [...document.querySelectorAll(POPUPS)].filter((element) => shown(element) && element.closest('[inert]') === null).length,
  };
})()`;

interface Stop {
  readonly name: string;
  readonly isNew: boolean;
  readonly hasRing: boolean;
  readonly isCovered: boolean;
}

async function ask<Answer>(page: Page, call: string): Promise<Answer> {
  await page.evaluate(HELPERS);
  return (await page.evaluate(`keys.${call}`)) as Answer;
}

/**
 * Goes through a page by Tab alone, from where the focus is until it comes to where it was.
 * @param within a selector of what has to be reached
 * @returns what is wrong, as lines: what is not reached, has no ring, or is out of sight while it has the focus
 */
export async function walk(page: Page, within: string): Promise<string[]> {
  const wrong: string[] = [];
  for (let stops = 0; stops < MOST_STOPS; stops += 1) {
    await page.keyboard.press('Tab');
    const stop = await ask<Stop | null>(page, 'look()');
    // The end of the page: the browser's own controls come next.
    if (stop === null) continue;
    if (!stop.isNew) break;
    if (!stop.hasRing) wrong.push(`no ring: ${stop.name}`);
    if (stop.isCovered) wrong.push(`out of sight: ${stop.name}`);
  }
  const missed = await ask<string[]>(page, `missed(${JSON.stringify(within)})`);
  return [...wrong, ...missed.map((name) => `not reached: ${name}`)];
}

/** What has the focus; "nothing": it is lost. */
export function focused(page: Page): Promise<string> {
  return ask<string>(page, 'focused()');
}

/** How many dialogs, menus and lists to choose from are open. */
export function popups(page: Page): Promise<number> {
  return ask<number>(page, 'popups()');
}

const COUNTING = `(() => {
  const { fetch } = window;
  window.underWay = 0;
  window.fetch = async (...given) => {
    window.underWay += 1;
    try { return await fetch(...given); } finally { window.underWay -= 1; }
  };
})()`;
const FRAMES = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';

/** Counts what the pages that are opened from now on ask for, for `settled`. */
export async function counted(page: Page): Promise<void> {
  await page.evaluateOnNewDocument(COUNTING);
}

/** Waits for what a key has set off to be answered and drawn. */
export async function settled(page: Page): Promise<void> {
  const isStill = async (): Promise<unknown> => {
    await page.evaluate(FRAMES);
    return page.evaluate('(window.underWay ?? 0) === 0');
  };
  await expect.poll(isStill, WAIT).toBe(true);
  await page.evaluate(FRAMES);
}

/**
 * Presses a control by Enter. What opens over the page has the focus within it, is left by Escape, and gives the focus back.
 * @returns what is wrong, as lines
 */
export async function pressed(page: Page, name: string): Promise<string[]> {
  const before = await popups(page);
  await ask(page, 'hold()');
  await page.keyboard.press('Enter');
  await settled(page);
  const at = await focused(page);
  if (at === 'nothing') return [`${name}: the focus is lost when it is pressed`];
  if ((await popups(page)) === before) return [];
  await page.keyboard.press('Escape');
  const isClosed = await expect
    .poll(() => popups(page), WAIT)
    .toBe(before)
    .then(
      () => true,
      () => false,
    );
  if (!isClosed) return [`${name}: what it opens is not left by Escape`];
  await settled(page);
  // Its name may have changed, such as that of a bell.
  if (await ask<boolean>(page, 'isBack()')) return [];
  return [`${name}: Escape leads to ${await focused(page)}`];
}

/**
 * What can be pressed within something, each once: what has the same words is the same. Those of an item stand for all items.
 * @returns focuses each, in turn; false: it is not there any more
 */
export async function controls(page: Page, within: string): Promise<(() => Promise<boolean>)[]> {
  const all = `[...document.querySelectorAll(${JSON.stringify(`${within} button, ${within} summary`)})]`;
  const places = (await page.evaluate(`(() => {
    const names = new Set();
    return ${all}.flatMap((element, at) => {
      if (element.disabled || !element.checkVisibility({ visibilityProperty: true })) return [];
      const name = (element.getAttribute('aria-label') ?? element.textContent).trim().replace(/\\d+/g, '');
      if (names.has(name)) return [];
      names.add(name);
      return [at];
    });
  })()`)) as number[];
  return places.map(
    (at) => async () =>
      (await page.evaluate(
        `(() => { const one = ${all}[${String(at)}]; one?.focus(); return one !== undefined && document.activeElement === one; })()`,
      )) === true,
  );
}
