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
      find: /^@fanfare\/(client|local-engine|react)$/,
      replacement: fileURLToPath(new URL('packages/$1/src/index.ts', import.meta.url)),
    },
    {
      find: '@fanfare/client/operations',
      replacement: fileURLToPath(new URL('packages/client/src/operations.ts', import.meta.url)),
    },
    {
      find: /^@fanfare\/react\/(more|server|testing)$/,
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
};

const kinds = ['unit', 'integration', 'e2e', 'conformance', 'fault'] as const;
/** They count what their whole process has open, or give it types of their own, and so have it to themselves. */
const aloneWithDatabases = [
  'test/e2e/additions.test.ts',
  'test/e2e/library.test.ts',
  'test/e2e/live-cycles.test.ts',
  'test/e2e/own-languages.test.ts',
  'test/e2e/own-types.test.ts',
  'test/e2e/protocol-names.test.ts',
];
const alone = [
  'test/unit/cli/host-config-file.test.ts',
  'test/unit/cli/init.test.ts',
  'test/unit/graphql/type-names.test.ts',
  // They look at the heap of their process, which is small then.
  'test/unit/http/deadline.test.ts',
  'test/unit/lib/cache-memory.test.ts',
];

/** A process that has once served tenants takes ids with one ever after: these have it to themselves, too. */
const tenants = [
  'test/e2e/library-tenants.test.ts',
  'test/e2e/react-tabs-browser.test.ts',
  'test/e2e/tenant-commands.test.ts',
  'test/e2e/tenant-quotas.test.ts',
  'test/e2e/tenants-own-types.test.ts',
  'test/e2e/tenants-table.test.ts',
  'test/e2e/tenants.test.ts',
  'test/integration/costs/tenants.test.ts',
];
const watched = { setupFiles: ['test/support/watch-commands.ts'] };

export default defineConfig({
  test: {
    // One engine and one Redis for the whole run; see test/support/engine.ts.
    globalSetup: ['test/support/global-setup.ts'],
    projects: [
      // Files share processes, loaded modules and spare databases: nothing in a file may change what others see.
      ...kinds.map((name) => ({
        resolve,
        plugins: [relayArtifacts()],
        test: {
          ...limits,
          ...(name === 'unit' ? {} : watched),
          name,
          include: [`test/${name}/**/*.test.ts`, `packages/*/test/${name}/**/*.test.ts`],
          exclude: [...alone, ...aloneWithDatabases, ...tenants],
          pool: 'forks' as const,
          isolate: false,
        },
      })),
      { resolve, test: { ...limits, name: 'alone', include: alone, pool: 'forks' } },
      {
        resolve,
        test: { ...limits, ...watched, name: 'alone-e2e', include: aloneWithDatabases, pool: 'forks' },
      },
      { resolve, test: { ...limits, ...watched, name: 'tenants', include: tenants, pool: 'forks' } },
    ],
  },
});
