import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test as base } from 'vitest';
import type { EmbeddedEvent } from '../../src/events.ts';
import { ensureTree, findTree } from '../../src/tree/ensure-tree.ts';
import type { TreeOptions } from '../../src/tree/ensure-tree.ts';
import { waitUntil } from '../../src/process/wait-until.ts';
import { FAKE_FILES, makeFakeArchive, makeStuckUnpacker } from '../integration/fake-archive.ts';
import { PATH, isDebian, remainingProcesses, runFixture, testFolder } from '../integration/support.ts';
import { PATIENCE_MS } from '../../../../test/support/patience.ts';

// The archive is small and fake; apt and dpkg are real. The real tree is what the other tests run on.

const test = base.runIf(isDebian);

type Options = Omit<TreeOptions, 'onEvent'>;

function optionsIn(folder: string): Options {
  return { ...makeFakeArchive(folder), cacheDir: join(folder, 'cache'), path: PATH };
}

const onEvent = () => undefined;

test('builds the tree once, without assumed and removed packages, and shows the progress', async () => {
  await using folder = testFolder();
  const options = optionsIn(folder.path);
  expect(await findTree({ ...options, onEvent })).toBeNull();
  const events: EmbeddedEvent[] = [];
  const tree = await ensureTree({ ...options, onEvent: (event) => events.push(event) });
  for (const file of FAKE_FILES) expect(existsSync(join(tree, file))).toBe(true);
  expect(readFileSync(join(tree, 'usr/share/fanfare-one/link'), 'utf8')).toBe('fanfare-one');
  expect(readdirSync(join(tree, 'usr/share')).sort()).toEqual(['fanfare-one', 'fanfare-two']);
  expect(readdirSync(options.cacheDir)).toEqual([
    expect.stringMatching(/^documentdb-fake-\w+-[0-9a-f]{12}$/),
  ]);
  const unpacked = events.filter((event) => event.step === 'unpack').map((event) => event.fraction);
  expect(unpacked).toEqual([0.5, 1]);
  const again: EmbeddedEvent[] = [];
  expect(await ensureTree({ ...options, onEvent: (event) => again.push(event) })).toBe(tree);
  expect(again).toEqual([]);
  expect(await findTree({ ...options, onEvent })).toBe(tree);
});

test('does not change the host: no list, archive or package of the mirror appears there', async () => {
  await using folder = testFolder();
  await ensureTree({ ...optionsIn(folder.path), onEvent });
  expect(readdirSync('/var/lib/apt/lists').filter((name) => name.includes('fanfare'))).toEqual([]);
  expect(readdirSync('/var/cache/apt/archives').filter((name) => name.includes('fanfare'))).toEqual([]);
  expect(readFileSync('/var/lib/dpkg/status', 'utf8')).not.toContain('Package: fanfare');
});

test('downloads the assumed packages after all if the tree cannot be built without them', async () => {
  await using folder = testFolder();
  const options = optionsIn(folder.path);
  const events: EmbeddedEvent[] = [];
  const tree = await ensureTree({
    ...options,
    recipe: { ...options.recipe, links: [['usr/share/fanfare-ballast/link', 'data']] },
    onEvent: (event) => events.push(event),
  });
  expect(readFileSync(join(tree, 'usr/share/fanfare-ballast/link'), 'utf8')).toBe('fanfare-ballast');
  expect(events.map((event) => event.message)).toContainEqual(expect.stringContaining('Trying again'));
});

test('accepts known packages only with their known contents, and reports unknown ones', async () => {
  await using folder = testFolder();
  const options = optionsIn(folder.path);
  const pool = join(folder.path, 'debian', 'pool');
  const digestOf = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(pool, name)))
      .digest('hex');
  const [one = '', two = ''] = readdirSync(pool).filter((name) => !name.includes('ballast'));
  const build = async (pins: Readonly<Record<string, string>>): Promise<string> => {
    const events: EmbeddedEvent[] = [];
    const recipe = { ...options.recipe, pins };
    await ensureTree({ ...options, recipe, onEvent: (event) => events.push(event) });
    return events.find(({ message }) => message.includes('signature'))?.message ?? '';
  };
  await expect(build({ [one]: digestOf(one), [two]: digestOf(one) })).rejects.toMatchObject({
    code: 'BUILD_FAILED',
    message: expect.stringContaining(`The package ${two} has the SHA-256 ${digestOf(two)}`) as string,
  });
  expect(await build({ [one]: digestOf(one) })).toMatch(new RegExp(`^1 of 2 packages .*: ${two}$`));
  expect(await build({ [one]: digestOf(one), [two]: digestOf(two) })).toBe('');
});

test('another recipe creates another tree, and both stay', async () => {
  await using folder = testFolder();
  const options = optionsIn(folder.path);
  const first = await ensureTree({ ...options, onEvent });
  const second = await ensureTree({ ...options, recipe: { ...options.recipe, version: 2 }, onEvent });
  expect(second).not.toBe(first);
  expect(readdirSync(options.cacheDir)).toHaveLength(2);
});

test('a build that was killed is never used, leaves no process, and is removed by the next', async () => {
  await using folder = testFolder();
  const options = optionsIn(folder.path);
  const marker = join(folder.path, 'unpacking');
  const path = `${makeStuckUnpacker(folder.path, marker)}:${PATH}`;
  await using builder = runFixture('builder', [JSON.stringify({ ...options, path })]);
  expect(await waitUntil(() => existsSync(marker), PATIENCE_MS)).toBe(true);
  builder.kill('SIGKILL');
  await builder.ended;
  expect(await remainingProcesses(folder.path)).toEqual([]);
  expect(readdirSync(options.cacheDir)).toContainEqual(expect.stringContaining('.building-'));
  expect(await findTree({ ...options, onEvent })).toBeNull();
  const tree = await ensureTree({ ...options, onEvent });
  expect(existsSync(join(tree, 'half'))).toBe(false);
  expect(existsSync(join(tree, FAKE_FILES[0] ?? ''))).toBe(true);
  expect(readdirSync(options.cacheDir)).toHaveLength(1);
});

test('of two processes one builds and the other waits, and both get the same tree', async () => {
  await using folder = testFolder();
  const options = optionsIn(folder.path);
  const marker = join(folder.path, 'unpacking');
  const path = `${makeStuckUnpacker(folder.path, marker)}:${PATH}`;
  await using first = runFixture('builder', [JSON.stringify({ ...options, path })]);
  expect(await waitUntil(() => existsSync(marker), PATIENCE_MS)).toBe(true);
  // The first holds the lock for certain now, so these two wait; then it dies, and one takes over.
  await using second = runFixture('builder', [JSON.stringify(options)]);
  await using third = runFixture('builder', [JSON.stringify(options)]);
  expect(await second.said('step')).toMatchObject({
    step: 'wait',
    message: expect.stringContaining(`${first.pid}`) as string,
  });
  expect(await third.said('step')).toMatchObject({ step: 'wait' });
  first.kill('SIGKILL');
  const { tree } = await second.said('tree');
  expect(await third.said('tree')).toEqual({ tree });
  expect(readdirSync(options.cacheDir).map((name) => join(options.cacheDir, name))).toEqual([tree]);
});

test("reports apt's output if the packages cannot be downloaded", async () => {
  await using folder = testFolder();
  const options = optionsIn(folder.path);
  const recipe = { ...options.recipe, packages: ['fanfare-missing'] };
  await expect(ensureTree({ ...options, recipe, onEvent })).rejects.toMatchObject({
    code: 'BUILD_FAILED',
    message: expect.stringContaining('fanfare-missing') as string,
  });
  expect(readdirSync(options.cacheDir)).toEqual([]);
});

test('tries the next mirror if one lacks the suite', async () => {
  await using folder = testFolder();
  const options = optionsIn(folder.path);
  const empty = join(folder.path, 'empty', 'debian');
  mkdirSync(empty, { recursive: true });
  const list = join(folder.path, 'etc-apt', 'sources.list');
  writeFileSync(list, `deb [trusted=yes] file:${empty} testing main\n${readFileSync(list, 'utf8')}`);
  expect(existsSync(await ensureTree({ ...options, onEvent }))).toBe(true);
});

test('fails if apt knows no Debian mirror, and if there is no apt', async () => {
  await using folder = testFolder();
  const options = optionsIn(folder.path);
  await expect(ensureTree({ ...options, aptFolder: join(folder.path, 'none'), onEvent })).rejects.toThrow(
    'not set up with a mirror of Debian',
  );
  await expect(ensureTree({ ...options, path: join(folder.path, 'none'), onEvent })).rejects.toThrow(
    'no apt-get',
  );
});
