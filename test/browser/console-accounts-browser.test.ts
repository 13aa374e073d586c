import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { signIn } from '../../console/src/words/de-sign-in.ts';
import { words } from '../../console/src/words/de.ts';
import { AUDIENCE, CLIENT_ID, ROLES, startProvider, type AccountProvider } from '../support/accounts.ts';
import { clickOn, fillIn, findBrowser, ofBrowser, openPage, textOf, type Visit } from '../support/browser.ts';
import {
  axeViolationsInBoth,
  click,
  has,
  openConsole,
  picture,
  type ConsoleWorld,
} from '../support/console.ts';
import { publish, upsert } from '../support/feed-api.ts';
import { isLeftOut } from '../support/needed.ts';

const found = await findBrowser();
const SIGN_IN = 'Sign in with your account';
/** All that the tab and the browser have stored. */
const STORED = 'JSON.stringify([{ ...sessionStorage }, { ...localStorage }])';

describe.skipIf(isLeftOut(typeof found !== 'string'))("the console by the host's accounts", () => {
  let accounts: AccountProvider;
  let world: ConsoleWorld;
  beforeAll(async () => {
    accounts = await startProvider();
    const { issuer } = accounts;
    world = await openConsole(found, () =>
      Promise.resolve({
        pageToken: undefined,
        auth: { jwksUri: `${issuer}/jwks`, issuer, audience: AUDIENCE, rolesClaim: ROLES },
        accounts: {
          ...{ issuer, clientId: CLIENT_ID },
          request: { scope: 'openid offline_access', resource: AUDIENCE },
        },
      }),
    );
    accounts.openFor(`${world.server.url}/console`);
    accounts.roles.set('ada', ['admin', 'service']);
    accounts.roles.set('opal', ['operator', 'admin']);
    await upsert(world.app, {
      members: [{ memberId: 'john', name: 'John Doe' }],
      pairs: [{ followerId: 'rita', refId: 'john' }],
    });
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await accounts[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    Object.assign(accounts, { tokenSeconds: 3_600, audience: AUDIENCE, hasForgotten: false, isAway: false });
  });

  const post = (title: string): Promise<string> =>
    publish(world.app, {
      actorId: 'john',
      descriptor: { posted: { postId: `post:${title}`, postTitle: title } },
    });
  /** As somebody does at the provider, from its first page until it sends them back. */
  const logIn = async (page: Page, name: string): Promise<void> => {
    await fillIn(page, 'input[name="login"]', name);
    await fillIn(page, 'input[name="password"]', 'any');
    await clickOn(page, 'button[type="submit"]');
    await has(page, 'Authorize', 'body');
  };
  const consent = (page: Page): Promise<void> => clickOn(page, 'button[type="submit"]');
  const signedIn = async (name: string, hash = ''): Promise<Visit> => {
    const visited = await world.visit(hash);
    await click(visited.page, SIGN_IN);
    await logIn(visited.page, name);
    await consent(visited.page);
    await has(visited.page, name, '.who');
    return visited;
  };
  const addressOf = (page: Page): string => page.url().replace(world.server.url, '');

  test('comes back to the screen one wanted, with the roles of the claim, and again after a reload', async () => {
    await using visited = await world.visit('#/overview');
    const { page, errors } = visited;
    await has(page, SIGN_IN);
    await page.setViewport({ width: 900, height: 600 });
    expect(await axeViolationsInBoth(page, (value) => picture(page, `accounts-${value}`))).toEqual({});
    await click(page, SIGN_IN);
    await logIn(page, 'ada');
    await consent(page);
    await has(page, 'Administrator', '.who');
    await has(page, 'Watchers');
    expect(addressOf(page)).toBe('/console#/overview');
    // Nothing that the provider gave: neither a token nor a code.
    expect(await page.evaluate(STORED)).toBe('[{"fanfare:account":"","fanfare:tenant":""},{}]');
    await page.reload();
    await has(page, 'Watchers');
    expect(await textOf(page, '.who')).toContain('ada');
    expect(addressOf(page)).toBe('/console#/overview');
    expect(errors).toEqual([]);
  });

  test('shows a reader without the role what is for all', async () => {
    await using visited = await signedIn('rita', '#/overview');
    const { page } = visited;
    await has(page, 'your token has not the role for it');
    expect(await textOf(page, '.who')).toContain('Reader');
    expect(await textOf(page, 'nav')).not.toContain('Moderation');
  });

  test('asks an operator for the tenant, once in a tab', async () => {
    await using visited = await world.visit('#/types');
    const { page } = visited;
    await click(page, SIGN_IN);
    await logIn(page, 'opal');
    await consent(page);
    await fillIn(page, 'input[required]', 'acme');
    await click(page, 'Go on');
    await has(page, 'acme', 'header .badge');
    expect(addressOf(page)).toBe('/console#/types');
    await page.reload();
    await has(page, 'acme', 'header .badge');
  });

  test('allows calls of the provider, from this page alone', async () => {
    const policyOf = async (path: string): Promise<string> => {
      const { headers } = await fetch(`${world.server.url}/console${path}`);
      return /connect-src [^;]*/.exec(headers.get('content-security-policy') ?? '')?.[0] ?? '';
    };
    expect(await policyOf('')).toBe(`connect-src 'self' ${accounts.issuer} ${accounts.tokens}`);
    expect(await policyOf('/demo')).toBe("connect-src 'self'");
  });

  test('renews tokens that end, and says so when that is over', async () => {
    accounts.tokenSeconds = 8;
    const renewal = () => once(accounts.provider, 'grant.success');
    await using visited = await signedIn('rita');
    const { page } = visited;
    await renewal();
    await post('Osprey');
    await has(page, 'Osprey');
    accounts.hasForgotten = true;
    await has(page, 'Sign in again', 'body');
    accounts.hasForgotten = false;
    accounts.tokenSeconds = 3_600;
    // The provider knows who it is: nothing is asked.
    await click(page, 'Sign in again');
    await post('Kestrel');
    await has(page, 'Kestrel');
    expect(await textOf(page, '.who')).toContain('rita');
  });

  test('signs out here and there, and leaves nothing', async () => {
    await using visited = await signedIn('ada');
    const { page } = visited;
    const debug = await page.createCDPSession();
    await debug.send('Network.enable');
    const closed = new Promise((resolve) => debug.on('Network.webSocketClosed', resolve));
    const revoked = once(accounts.provider, 'refresh_token.destroyed');
    await clickOn(page, 'button[title="Sign out"]');
    await Promise.all([closed, revoked]);
    await clickOn(page, 'button[name="logout"]');
    await has(page, SIGN_IN);
    expect(addressOf(page)).toBe('/console');
    expect(await page.evaluate(STORED)).toBe('[{},{}]');
    await click(page, SIGN_IN);
    await page.waitForSelector('input[name="login"]');
  });

  test.each([
    {
      name: 'somebody does not agree',
      says: 'or you did not agree',
      back: 'Authorize',
      act: (page: Page) => clickOn(page, 'a[href$="/abort"]'),
    },
    {
      name: 'a code is not good any more',
      says: 'has taken too long, or was used already',
      back: 'Administrator',
      act: async (page: Page) => {
        accounts.provider.once('authorization.success', () => (accounts.hasForgotten = true));
        await consent(page);
      },
    },
    {
      name: 'the tokens are for another server',
      says: `aud: "https://other.example", JWT_AUDIENCE: "${AUDIENCE}"`,
      back: 'Administrator',
      act: async (page: Page) => {
        accounts.audience = 'https://other.example';
        await consent(page);
      },
    },
    {
      name: 'the provider goes away',
      says: 'The provider does not answer',
      back: 'Administrator',
      act: async (page: Page) => {
        accounts.provider.once('authorization.success', () => (accounts.isAway = true));
        await consent(page);
      },
    },
  ])('says it in words when $name, with a way back', async ({ says, act, back }) => {
    await using visited = await world.visit('#/notifications');
    const { page } = visited;
    await click(page, SIGN_IN);
    await logIn(page, 'ada');
    await act(page);
    await has(page, says, '[role="alert"]');
    expect(addressOf(page)).toBe('/console#/notifications');
    expect(await page.evaluate(STORED)).toBe('[{},{}]');
    Object.assign(accounts, { audience: AUDIENCE, hasForgotten: false, isAway: false });
    await click(page, SIGN_IN);
    // Who has agreed is not asked again; who has not, is.
    await has(page, back, 'body');
  });

  test('says all of it in German to who prefers that', async () => {
    const german = "Object.defineProperty(navigator, 'languages', { value: ['de-AT', 'en'] })";
    await using visited = await world.visit('#/notifications');
    const { page } = visited;
    await page.evaluateOnNewDocument(german);
    await page.reload();
    await has(page, 'Mit Ihrem Konto anmelden', 'main');
    const said = await textOf(page, 'main');
    expect(Object.keys(signIn).filter((english) => english.length > 2 && said.includes(english))).toEqual([]);
    await click(page, 'Mit Ihrem Konto anmelden');
    await logIn(page, 'ada');
    await clickOn(page, 'a[href$="/abort"]');
    await has(
      page,
      'Der Anbieter hat Sie nicht eingelassen, oder Sie haben nicht zugestimmt.',
      '[role="alert"]',
    );
  });

  test('has German for each sentence of the sign-in', async () => {
    const files = ['accounts.ts', 'account-faults.ts', 'sign-in.tsx'];
    const sources = await Promise.all(
      files.map((file) => readFile(new URL(`../../console/src/${file}`, import.meta.url), 'utf8')),
    );
    const sentences = sources.flatMap((source) => [...source.matchAll(/'([A-Z][^'\n]* [^'\n]*\.)'/g)]);
    const texts = sentences.map(([, text = '']) => text);
    expect(texts.length).toBeGreaterThan(10);
    expect(texts.filter((text) => words[text] === undefined)).toEqual([]);
  });

  test('says that a clock is wrong', async () => {
    const aDay = 'const { now } = Date; Date.now = () => now() + 86_400_000';
    await using visited = await openPage(
      ofBrowser(found),
      `${world.server.url}/console`,
      undefined,
      async (page) => {
        await page.evaluateOnNewDocument(aDay);
      },
    );
    const { page } = visited;
    await click(page, SIGN_IN);
    await logIn(page, 'ada');
    await consent(page);
    await has(page, 'The clock of this machine, or that of the provider, is wrong', '[role="alert"]');
  });

  test('takes no answer that nobody has asked for', async () => {
    await using visited = await world.visit('?code=stolen&state=forged#/feed');
    const { page, asked } = visited;
    await has(page, 'belongs to no sign-in that was begun in this tab', '[role="alert"]');
    expect(asked.filter((url) => url.startsWith(accounts.issuer))).toEqual([]);
    expect(addressOf(page)).toBe('/console');
    await click(page, SIGN_IN);
    await page.waitForSelector('input[name="login"]');
    // Another tab's answer, after this one has begun its own.
    await page.goto(`${world.server.url}/console?code=stolen&state=forged`);
    await has(page, 'belongs to no sign-in that was begun in this tab', '[role="alert"]');
    expect(asked.filter((url) => url.includes('/token'))).toEqual([]);
  });

  test('says that the provider is away before it goes there', async () => {
    accounts.isAway = true;
    await using visited = await world.visit();
    const { page } = visited;
    await click(page, SIGN_IN);
    await has(page, 'The provider does not answer', '[role="alert"]');
    await picture(page, 'accounts-away');
    // Beside it, a token can be pasted.
    await clickOn(page, 'summary');
    await page.waitForSelector('textarea', { visible: true });
    await picture(page, 'accounts-token');
    accounts.isAway = false;
    await click(page, SIGN_IN);
    await page.waitForSelector('input[name="login"]');
  });
});
