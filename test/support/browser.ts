import chromium from '@sparticuz/chromium';
import puppeteer, {
  type Browser,
  type ElementHandle,
  type HTTPRequest,
  type JSHandle,
  type Page,
} from 'puppeteer-core';
import { PATIENCE_MS } from './patience.ts';

/** In one process Chromium would end with the first profile that is closed; the others let pages do what no browser does. */
const NOT_WANTED = new Set([
  '--single-process',
  '--disable-web-security',
  '--allow-running-insecure-content',
]);

/**
 * A Chromium that asks nobody for anything but what it is shown, with profiles that are empty; or why it cannot run on
 * this machine, which is then printed: such as one that lacks the libraries it needs.
 */
export async function findBrowser(): Promise<Browser | string> {
  try {
    return await puppeteer.launch({
      args: [
        ...chromium.args.filter((arg) => !NOT_WANTED.has(arg)),
        ...['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
      ],
      executablePath: await chromium.executablePath(),
      headless: 'shell',
      // Of a machine without a language it makes one that is none, and no page of such a browser can write a number.
      env: { ...process.env, LC_ALL: 'en_US.UTF-8' },
      protocolTimeout: 300_000,
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`Chromium cannot run here: ${reason}\n`);
    return reason;
  }
}

/** Those of a file that could start one. */
export function ofBrowser(found: Browser | string): Browser {
  if (typeof found === 'string') throw new Error(`There is no browser: ${found}`);
  return found;
}

/** A page of a profile of its own. Disposing ends both. */
export interface Visit extends AsyncDisposable {
  readonly page: Page;
  /** Addresses that were asked for, sockets included. */
  readonly asked: readonly string[];
  /** What scripts of the page reported as errors. */
  readonly errors: readonly string[];
}

/**
 * @param onRequest sees each request, from the first on
 * @param prepare what the page is like before it is opened
 */
export async function openPage(
  browser: Browser,
  url: string,
  onRequest: (request: HTTPRequest) => void = () => undefined,
  prepare: (page: Page) => Promise<void> = () => Promise.resolve(),
): Promise<Visit> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await prepare(page);
  const [asked, errors]: [string[], string[]] = [[], []];
  page.on('request', (request) => {
    asked.push(request.url());
    onRequest(request);
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    // A server that is away is reported by the browser itself.
    if (message.type() === 'error' && !message.text().includes('ERR_')) errors.push(message.text());
  });
  await page.goto(url);
  return { page, asked, errors, [Symbol.asyncDispose]: () => context.close() };
}

/**
 * Gives a field a text, a time or a choice, in one event, and leaves it focused. Puppeteer empties a field without saying so and types
 * the text key by key: when React draws it in between, the old text comes back, and the new one is typed behind it.
 */
export async function fillIn(page: Page, selector: string, value: string): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  do {
    const field = await untilVisible(page, selector);
    const isSelected = await field.evaluate(selected, value);
    if (isSelected)
      await (value === '' ? page.keyboard.press('Backspace') : page.keyboard.sendCharacter(value));
    if ((await field.evaluate(valueOf)) === value) return;
  } while (performance.now() < until);
  throw new Error(`${selector} cannot be filled in`);
}

const valueOf = (node: unknown): string => (node as { readonly value: string }).value;

/**
 * In the page: focuses a field. Of one that takes text the whole is selected, to be replaced. Any other is given its value, as no key
 * does in each language; a value that is set on the field itself is not noticed by React, which watches it.
 * @returns whether text can be entered
 */
function selected(node: unknown, value: string): boolean {
  const field = node as {
    focus(): void;
    select?(): void;
    dispatchEvent(event: Event): boolean;
    readonly disabled: boolean;
    readonly type: string;
  };
  if (field.disabled) return false;
  field.focus();
  if (field.select !== undefined && !/date|time/.test(field.type)) {
    field.select();
    return true;
  }
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value')?.set?.call(field, value);
  for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind, { bubbles: true }));
  return false;
}

/**
 * What waits for a selector without asking whether it is seen goes on when the document changes: what changes in a shadow root
 * wakes nobody. What asks for it looks at each frame.
 */
export async function untilVisible(page: Page, selector: string): Promise<ElementHandle> {
  const found = await page.waitForSelector(selector, { visible: true });
  if (found === null) throw new Error(`${selector} was not found`);
  return found;
}

/**
 * Clicks the first control that a selector finds, and nothing else. A locator waits until it stands still, looks where it is, and
 * clicks there: on a busy machine the page has time to move in between. What lands elsewhere is kept from the page, and aimed again.
 */
export async function clickOn(page: Page, selector: string): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  do {
    const control = await untilVisible(page, selector);
    const aim = await control.evaluateHandle(guarded);
    await page.locator(selector).click();
    if (await hasLanded(aim)) return;
  } while (performance.now() < until);
  throw new Error(`${selector} is elsewhere, or under something else, whenever it is clicked`);
}

interface Clicked {
  readonly type: string;
  readonly isTrusted: boolean;
  composedPath(): readonly unknown[];
  preventDefault(): void;
  stopImmediatePropagation(): void;
}
type Guards = (kind: string, guard: (event: Clicked) => void, capture: true) => void;

/** In the page: lets the next click through if it lands on a control. @returns ends it, and says whether the control was clicked */
function guarded(node: unknown): () => boolean {
  const control = node as {
    contains(other: unknown): boolean;
    readonly isConnected: boolean;
    readonly ownerDocument: {
      readonly defaultView: Record<'addEventListener' | 'removeEventListener', Guards>;
    };
  };
  const { defaultView: view } = control.ownerDocument;
  const kinds = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click'];
  let [isPressed, isClicked] = [false, false];
  const guard = (event: Clicked): void => {
    if (!event.isTrusted) return;
    // In a shadow root `target` is what holds it. Each event on its own: the page may move between the press and the release.
    const isHit = control.contains(event.composedPath()[0]);
    isPressed ||= isHit;
    if (event.type === 'click') isClicked = isHit;
    if (isHit) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  for (const kind of kinds) view.addEventListener(kind, guard, true);
  return () => {
    for (const kind of kinds) view.removeEventListener(kind, guard, true);
    // What acts when it is pressed may be gone before the release.
    return isClicked || (isPressed && !control.isConnected);
  };
}

async function hasLanded(aim: JSHandle<() => boolean>): Promise<boolean> {
  try {
    return await aim.evaluate((end) => end());
  } catch {
    // The click has led to another page.
    return true;
  }
}

/** Scripts of the page are texts: its globals are not those of this process. */
export async function textOf(page: Page, selector = 'body'): Promise<string> {
  const script = `[...document.querySelectorAll(${JSON.stringify(selector)})].map((e) => e.textContent).join('\\n')`;
  return String(await page.evaluate(script)).replaceAll(/\s+/g, ' ');
}
