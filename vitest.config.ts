import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: {
    // Under Vitest graphql would load twice (ESM and CJS), and its instanceof checks would fail.
    alias: [
      {
        find: /^graphql$/,
        replacement: fileURLToPath(new URL('node_modules/graphql/index.js', import.meta.url)),
      },
      // Tests run the sources, never an older build.
      {
        find: /^fanfare\/client$/,
        replacement: fileURLToPath(new URL('src/client/index.ts', import.meta.url)),
      },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    // One engine and one Redis for the whole run; see test/support/engine.ts.
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // Much of a test is waiting for the engine, which runs in processes of its own.
    maxWorkers: 3,
    testTimeout: 180_000,
    hookTimeout: 240_000,
  },
});
