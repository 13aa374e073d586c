import { expect, test } from 'vitest';
import { startTestApp } from '../support/app.ts';

test.each([{ CONSOLE: 'off' }, { NODE_ENV: 'production' }])(
  'with %o there is no console, no demo and none of their files',
  async (env) => {
    await using app = await startTestApp({ worker: false, env });
    for (const path of ['/console', '/console/', '/console/demo', '/console/assets/main.js']) {
      const response = await fetch(`${app.url}${path}`);
      expect(response.status, path).toBe(404);
      // Not that of a console that was not built.
      expect(await response.text()).not.toContain('console is not built');
    }
  },
);
