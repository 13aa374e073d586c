import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isAbstractType, isObjectType } from 'graphql';
import { POSSIBLE_TYPES } from '@fanfare/client/cache';
import { expect, test } from 'vitest';
import { KEYS } from '../../packages/urql/src/cache.ts';
import { buildSchema } from '../../src/app/schema.ts';

const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url));
const RECIPES = join(DOCS, 'examples/frontends');

/** Without indentation: what the page shows may be nested in its file. */
const withoutIndentation = (code: string): string => code.replaceAll(/^ +/gm, '');

test('the page links every recipe, and its excerpts are in the files', async () => {
  const page = await readFile(join(DOCS, 'frontends.md'), 'utf8');
  const files = (await readdir(RECIPES)).filter((name) => name.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(5);
  for (const name of files) expect(page).toContain(`(examples/frontends/${name})`);
  const shown = [...page.matchAll(/^```ts\n\/\/ ([\w-]+\.ts)\n(.*?)\n```$/gms)];
  expect(new Set(shown.map(([, name]) => name)).size).toBeGreaterThan(4);
  for (const [, name = '', code = ''] of shown) {
    const recipe = withoutIndentation(await readFile(join(RECIPES, name), 'utf8'));
    for (const part of withoutIndentation(code).split('\n\n')) expect(recipe, name).toContain(part);
  }
});

test('the compiled Relay operations are up to date; if not, run relay-compiler there', async () => {
  const compiler = join(
    dirname(createRequire(import.meta.url).resolve('relay-compiler/package.json')),
    'cli.js',
  );
  const args = [compiler, '--noWatchman', '--validate', 'relay.config.json'];
  await promisify(execFile)(process.execPath, args, { cwd: RECIPES });
});

test('POSSIBLE_TYPES matches the schema', async () => {
  const schema = await buildSchema();
  for (const [name, types] of Object.entries(POSSIBLE_TYPES)) {
    const type = schema.getType(name);
    const possible = isAbstractType(type) ? schema.getPossibleTypes(type).map((one) => one.name) : [];
    expect(possible, name).toEqual(expect.arrayContaining(types));
  }
});

test('every type with a global id is a Node, and every Node has an id', async () => {
  const objects = (await buildSchema()).toConfig().types.filter(isObjectType);
  const withId = objects.filter((type) => type.getFields()['id'] !== undefined);
  const nodes = withId.filter((type) => type.getInterfaces().some(({ name }) => name === 'Node'));
  expect(nodes.map(({ name }) => name).sort()).toEqual([...POSSIBLE_TYPES.Node].sort());
  // What only hosts and admins see is read in pages, not by node(id:).
  const others = withId.filter((type) => !nodes.includes(type)).map(({ name }) => name);
  const known = ['DeleteActionPayload', 'FeedKey', 'HostEvent', 'Mute', 'WebhookDelivery'];
  expect(others.filter((name) => !known.includes(name))).toEqual([]);
});

test('@fanfare/urql has a key for every type without an id, and for no other', async () => {
  const schema = await buildSchema();
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const objects = schema.toConfig().types.filter(isObjectType);
  const withoutId = objects.filter(
    (type) => type.getFields()['id'] === undefined && !type.name.startsWith('__') && !roots.includes(type),
  );
  // A group has one, and is another group with another filter.
  const known = ['FeedGroup', ...withoutId.map(({ name }) => name)];
  expect(known.filter((name) => KEYS[name] === undefined)).toEqual([]);
  expect(Object.keys(KEYS).filter((name) => !known.includes(name))).toEqual([]);
});
