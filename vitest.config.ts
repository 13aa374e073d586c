import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { relayArtifacts } from './test/support/frontends/relay-artifacts.ts';
import { PATIENCE_MS } from './test/support/patience.ts';

const resolve = {
  // Under Vitest graphql would load twice (ESM and CJS), and its instanceof checks would fail.
  alias: [
    {
      find: /^graphql$/,
      replacement: fileURLToPath(new URL('node_modules/graphql/index.js', import.meta.url)),
    },
    // Tests run the sources, never an older build.
    {
      find: /^@fanfare\/(apollo|client|local-engine|react|urql)$/,
      replacement: fileURLToPath(new URL('packages/$1/src/index.ts', import.meta.url)),
    },
    {
      find: /^@fanfare\/client\/(cache|offline|operations)$/,
      replacement: fileURLToPath(new URL('packages/client/src/$1.ts', import.meta.url)),
    },
    {
      find: /^@fanfare\/react\/(cache|more|offline|server|testing)$/,
      replacement: fileURLToPath(new URL('packages/react/src/$1.ts', import.meta.url)),
    },
  ],
};

// Much of a test is waiting for the engine, which runs in processes of its own. The timeouts end what hangs; a busy machine
// may take its time.
const limits = {
  maxWorkers: 3,
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: PATIENCE_MS } },
  // What a page said instead is what tells why.
  chaiConfig: { truncateThreshold: 2_000 },
};

const watched = { setupFiles: ['test/support/watch-commands.ts'] };
const forks = { pool: 'forks' as const };
const testsIn = (...folders: readonly string[]) =>
  folders.flatMap((folder) => [
    `test/${folder}/**/*.test.ts`,
    `{packages,parts}/*/test/${folder}/**/*.test.ts`,
  ]);

const PERMUTED = [
  'test/e2e/story*.test.ts',
  'test/sweeps/feed-model.test.ts',
  'test/integration/workers/{fan-out,rebuild}.test.ts',
];

/** What sends the commands of the command log. */
const COMPARED = [
  'test/e2e/story*.test.ts',
  'test/integration/costs/{digests,edits,feed-groups,host-events,interaction*,live-events,mutes,notification*,people-and-things}.test.ts',
];

// The folder of a file says what runs it, and in which of the two tiers: see test/README.md.
const projects = [
  // Files share processes, loaded modules and spare databases: nothing in a file may change what others see.
  { name: 'unit', include: testsIn('unit'), isolate: false },
  {
    ...watched,
    ...{ name: 'shared', include: testsIn('conformance', 'integration', 'e2e'), isolate: false },
    provide: { otherModels: false },
  },
  // A process for each file.
  {
    ...{ ...watched, name: 'rest' },
    include: testsIn('alone', 'browser', 'processes', 'large', 'fault', 'simulation'),
  },
  {
    ...watched,
    ...{ name: 'sweeps', include: testsIn('sweeps'), isolate: false },
    provide: { otherModels: false },
  },
  {
    ...watched,
    ...{
      name: 'models',
      include: testsIn('integration/each-model', 'conformance/each-model'),
      isolate: false,
    },
    provide: { otherModels: true },
  },
  // And with every command answered by an independent implementation as well: see test/support/second-opinion.ts.
  {
    ...{ name: 'compared', include: COMPARED, isolate: false },
    provide: { otherModels: false },
  },
  // Once more, on a server that is free in what MongoDB's manual leaves open: see test/support/permuted.ts.
  {
    ...{ name: 'permuted', include: PERMUTED, isolate: false },
    provide: { otherModels: false },
  },
];

export default defineConfig({
  test: {
    // One engine and one Redis for the whole run; see test/support/engine.ts.
    globalSetup: ['test/support/global-setup.ts'],
    projects: projects.map((project) => ({
      resolve,
      plugins: [relayArtifacts()],
      test: { ...limits, ...forks, ...project },
    })),
  },
});
