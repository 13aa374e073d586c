import type { Page } from 'puppeteer-core';

/** What scrolling cost in one step at most, as counts: how long a step took says more about the machine. */
export interface Scrolled {
  /** Articles that came into the page, and that went out of it. */
  readonly added: number;
  readonly removed: number;
  /** Changes of the document, attributes and texts included. */
  readonly changes: number;
  /** Layouts, over all steps: more than a few a step are forced by reading sizes between writes. */
  readonly layoutsPerStep: number;
  /** What one layout had to place again at most, of all that is in the page. */
  readonly dirtyObjects: number;
  /** From frame to frame, for people: median and longest. */
  readonly frameMs: { readonly median: number; readonly longest: number };
}

const SCROLL = `(async (steps, px) => {
  const most = { added: 0, removed: 0, changes: 0 };
  let records = [];
  const observer = new MutationObserver((more) => { records.push(...more); });
  observer.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
  const articles = (nodes) => [...nodes].filter((node) => node.nodeName === 'ARTICLE').length;
  const times = [];
  // What came before goes on for some frames.
  do {
    records = [];
    for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
  } while (records.length > 0);
  for (let step = 0; step < steps; step += 1) {
    scrollBy(0, px);
    for (let frame = 0; frame < 2; frame += 1) times.push(await new Promise(requestAnimationFrame));
    records.push(...observer.takeRecords());
    const sum = (of) => records.reduce((total, record) => total + of(record), 0);
    most.added = Math.max(most.added, sum(({ addedNodes }) => articles(addedNodes)));
    most.removed = Math.max(most.removed, sum(({ removedNodes }) => articles(removedNodes)));
    most.changes = Math.max(most.changes, records.length);
    records = [];
  }
  const frames = times.slice(1).map((time, at) => time - times[at]).sort((a, b) => a - b);
  return { ...most, frameMs: { median: frames[frames.length >> 1], longest: frames.at(-1) } };
})`;

interface TraceEvent {
  readonly name: string;
  readonly args?: { readonly beginData?: { readonly dirtyObjects?: number } };
}

/** Scrolls by small steps, as a wheel does. */
export async function scrollBySteps(page: Page, steps: number, px: number): Promise<Scrolled> {
  await page.tracing.start({ categories: ['devtools.timeline'] });
  const most = (await page.evaluate(`${SCROLL}(${String(steps)}, ${String(px)})`)) as Omit<
    Scrolled,
    'layoutsPerStep' | 'dirtyObjects'
  >;
  const trace = await page.tracing.stop();
  const { traceEvents } = JSON.parse(Buffer.from(trace ?? []).toString()) as { traceEvents: TraceEvent[] };
  const layouts = traceEvents.flatMap(({ name, args }) =>
    name === 'Layout' && args?.beginData?.dirtyObjects !== undefined ? [args.beginData.dirtyObjects] : [],
  );
  if (layouts.length === 0) throw new Error('The trace has no layouts');
  return { ...most, layoutsPerStep: layouts.length / steps, dirtyObjects: Math.max(...layouts) };
}
