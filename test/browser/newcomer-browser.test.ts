import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { clickOn, fillIn, findBrowser, ofBrowser, openPage, textOf } from '../support/browser.ts';
import { click, has, WAIT } from '../support/console.ts';
import { testDatabase } from '../support/engine.ts';
import { isLeftOut } from '../support/needed.ts';
import { PROJECT } from '../support/project-copy.ts';
import { startCommand, type RunningCli } from '../support/run-cli.ts';

const found = await findBrowser();

/** What somebody reads who has typed `npm start`. */
interface Printed {
  readonly consoleUrl: string;
  readonly authorization: string;
}

async function printed(server: RunningCli): Promise<Printed> {
  const [, consoleUrl = ''] = await server.stdoutHas(/Console {4}(http:\S+\/console)/);
  const [, authorization = ''] = await server.stdoutHas(/^authorization: (Bearer \S+)$/m);
  return { consoleUrl, authorization };
}

const fill = (page: Page, name: string, value: string): Promise<void> =>
  fillIn(page, `.publish [name="${name}"]`, value);

/** By somebody else than the page. */
async function publish({ consoleUrl, authorization }: Printed, postTitle: string): Promise<void> {
  const query = `mutation ($input: PublishActionInput!) { publishAction(input: $input) { isReplay } }`;
  const input = {
    ...{ actorId: 'john', mentions: ['demo'] },
    descriptor: { posted: { postId: `post:${postTitle}`, postTitle } },
  };
  const response = await fetch(consoleUrl.replace(/console$/, 'graphql'), {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: { input } }),
  });
  expect(await response.json()).toEqual({ data: { publishAction: { isReplay: false } } });
}

describe.skipIf(isLeftOut(typeof found !== 'string'))('a newcomer', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fanfare-newcomer-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }));
  afterAll(async () => {
    await ofBrowser(found).close();
  });

  /** As `npm start` does. */
  const start = (env: Readonly<Record<string, string>>): RunningCli =>
    startCommand(process.execPath, [join(PROJECT, 'bin/fanfare.js'), 'serve'], {
      cwd: folder,
      env: { DATA_DIR: join(folder, 'data'), PORT: '0', ...env },
    });

  test('starts the server, opens the printed address, publishes and sees the action; an open page survives a killed server', async () => {
    await using first = start({});
    const notified = await printed(first);
    await using visited = await openPage(ofBrowser(found), notified.consoleUrl);
    const { page, errors } = visited;
    await has(page, 'demo', 'header');
    await click(page, 'Sign out');
    await clickOn(page, 'textarea');
    await page.keyboard.sendCharacter(`authorization: ${notified.authorization}`);
    await click(page, 'Sign in');
    await has(page, 'demo', 'header');
    // Where a feed is empty it says what to do, and the form is filled in so that it leads there.
    await clickOn(page, 'main ::-p-xpath(.//a[. = "publish an action"])');
    await fillIn(page, 'form.publish #kind', 'posted');
    await fill(page, 'postId', 'post:1');
    await fill(page, 'postTitle', 'Kestrel');
    await click(page, 'Publish');
    await has(page, 'Delivered', '[role="status"]');
    await clickOn(page, 'a[href="#/feed"]');
    await has(page, 'Kestrel', '[role="feed"]');
    await page.evaluate('window.sameAsBefore = true');

    first.signal('SIGKILL');
    await first.result;
    await has(page, 'Connecting again', 'body');
    await using second = start({ PORT: new URL(notified.consoleUrl).port });
    const again = await printed(second);
    expect(again.consoleUrl).toBe(notified.consoleUrl);
    // With the token of before: its secret was kept.
    await publish(notified, 'Sparrow');
    await expect
      .poll(() => textOf(page, '[role="feed"], [data-fanfare="new-items"]'), WAIT)
      .toMatch(/Sparrow|1 new/);
    expect(await textOf(page, '[role="feed"]')).toContain('Kestrel');
    await expect.poll(() => textOf(page, '[data-fanfare="connection"]'), WAIT).toBe('');
    expect(await page.evaluate('window.sameAsBefore')).toBe(true);
    expect(errors).toEqual([]);
    second.signal('SIGTERM');
    expect((await second.result).code).toBe(0);
  });

  test('publishes a type of their own with the form, which has its fields and reports its errors', async () => {
    await using database = await testDatabase();
    await using server = start({
      ...{ MONGODB_URI: database.uri, MONGODB_DB: database.name, REDIS_URL: inject('redisUrl') },
      FANFARE_CONFIG: join(PROJECT, 'examples/ci/fanfare.config.mjs'),
    });
    const { consoleUrl, authorization } = await printed(server);
    await using visited = await openPage(ofBrowser(found), `${consoleUrl}#/publish`);
    const { page, errors } = visited;
    await has(page, 'Audience');
    await fillIn(page, 'form.publish #kind', 'buildFailed');
    await has(page, 'A build broke.');
    const types = 'Array.from(document.querySelector("select").options, ({ value }) => value)';
    expect(await page.evaluate(types)).not.toContain('posted');
    const build = { repoId: 'repo:web', repoName: 'Web', authorId: 'ann', authorName: 'Ann', branch: 'main' };
    for (const [name, value] of Object.entries(build)) await fill(page, name, value);
    await fill(page, 'mentions', 'demo');
    await fill(page, 'minutes', '-1');
    await click(page, 'Publish');
    await has(page, 'minutes', '[role="alert"]');
    await fill(page, 'minutes', '12');
    await click(page, 'Publish');
    await has(page, 'Delivered', '[role="status"]');
    expect(await page.$('[role="alert"]')).toBeNull();
    await clickOn(page, 'a[href="#/feed"]');
    await has(page, 'Ann broke main of Web', '[role="feed"]');
    // What can be chosen is chosen, and a moment is one of the calendar.
    await clickOn(page, 'a[href="#/publish"]');
    await has(page, 'Audience', 'form.publish');
    await fillIn(page, 'form.publish #kind', 'reviewRequested');
    const review = {
      repoId: 'repo:web',
      repoName: 'Web',
      reviewerId: 'bob',
      reviewerName: 'Bob',
      title: 'It',
    };
    for (const [name, value] of Object.entries(review)) await fill(page, name, value);
    await fill(page, 'isUrgent', 'true');
    await click(page, 'Publish');
    await has(page, 'What was published');
    await fillIn(page, 'form.publish #kind', 'deployed');
    const deployed = { repoId: 'repo:web', repoName: 'Web', version: '2.0', stage: 'PRODUCTION' };
    for (const [name, value] of Object.entries(deployed)) await fill(page, name, value);
    const type = "document.querySelector('.publish [name=finishedAt]').type";
    expect(await page.evaluate(type)).toBe('datetime-local');
    await click(page, 'Publish');
    const published = async () => {
      const query =
        '{ feed { edges { node { action { descriptor { ... on ReviewRequestedDescriptor { isUrgent } ... on DeployedDescriptor { stage } } } } } } }';
      const response = await fetch(consoleUrl.replace(/console$/, 'graphql'), {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      });
      return response.text();
    };
    await expect.poll(published, WAIT).toContain('{"stage":"PRODUCTION"}');
    expect(await published()).toContain('{"isUrgent":true}');
    expect(errors).toEqual([]);
    server.signal('SIGTERM');
    expect((await server.result).code).toBe(0);
  });
});
