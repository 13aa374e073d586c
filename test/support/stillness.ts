import type { Page } from 'puppeteer-core';

/** What moved, as Chromium's own layout shifts have it: what follows a click or a key by half a second is left out. */
export interface Shift {
  readonly value: number;
  readonly moved: readonly string[];
}

const NOTE = `(() => {
  const shifts = [];
  const take = (entries) => {
    for (const { value, hadRecentInput, sources } of entries)
      if (!hadRecentInput)
        shifts.push({ value, moved: sources.map(({ node }) => node?.outerHTML?.slice(0, 120) ?? String(node?.data)) });
  };
  const observer = new PerformanceObserver((list) => take(list.getEntries()));
  observer.observe({ type: 'layout-shift' });
  window.takeShifts = async () => {
    for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
    take(observer.takeRecords());
    return shifts.splice(0);
  };
})()`;

const STILL = `new Promise((done) => {
  let [last, frames] = ['', 0];
  const look = () => {
    const tops = Array.from(document.querySelectorAll('article'), (one) => one.getBoundingClientRect().top);
    const now = JSON.stringify([document.documentElement.scrollHeight, tops]);
    frames = now === last ? frames + 1 : 0;
    last = now;
    if (frames === 10) done();
    else requestAnimationFrame(look);
  };
  look();
})`;

/** Waits until no article has moved for ten frames: items take their size as they come near the view. */
export async function untilStill(page: Page): Promise<void> {
  await page.evaluate(STILL);
}

/** From now on shifts are noted. */
export async function noteShifts(page: Page): Promise<void> {
  await page.evaluate(NOTE);
}

/** Those since the last call, but for the button that says how many wait: it grows with the number. */
export async function takeShifts(page: Page): Promise<Shift[]> {
  const shifts = (await page.evaluate('takeShifts()')) as Shift[];
  return shifts.filter(({ moved }) => moved.some((html) => !/^<button[^>]*>\d+ new</.test(html)));
}

const SCROLL = `(async (steps) => {
  const seen = { articles: 0, nodes: 0, blank: 0 };
  const frame = () => new Promise(requestAnimationFrame);
  const end = document.documentElement.scrollHeight - innerHeight;
  for (let step = 0; step <= steps; step += 1) {
    scrollTo(0, (end * step) / steps);
    await frame();
    await frame();
    seen.articles = Math.max(seen.articles, document.querySelectorAll('article').length);
    seen.nodes = Math.max(seen.nodes, document.querySelectorAll('*').length);
    // Far from both ends there is nothing else than the list.
    const far = scrollY > innerHeight && scrollY < document.documentElement.scrollHeight - 2 * innerHeight;
    if (far && document.elementFromPoint(innerWidth / 2, innerHeight / 2)?.closest('article') == null) seen.blank += 1;
  }
  return seen;
})`;

/** Scrolls a page from its top to its end: how much was in it at most, and in how many frames its middle was blank. */
export async function scrollThrough(
  page: Page,
  steps: number,
): Promise<{ readonly articles: number; readonly nodes: number; readonly blank: number }> {
  return (await page.evaluate(`${SCROLL}(${String(steps)})`)) as {
    articles: number;
    nodes: number;
    blank: number;
  };
}
