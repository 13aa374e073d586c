import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findBrowser } from '../support/browser.ts';
import { isLeftOut } from '../support/needed.ts';
import { PROJECT } from '../support/project-copy.ts';
import { startCommand } from '../support/run-cli.ts';

const found = await findBrowser();

/** All but the one that waits for minutes until its charts are full. */
const PICTURES = ['console-home', 'console-inspector', 'console-types', 'demo', 'notifications'];

test.skipIf(isLeftOut(typeof found !== 'string'))(
  'npm run pictures finds what the pictures of the docs show',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'fanfare-taken-'));
    try {
      await using script = startCommand(
        process.execPath,
        [join(PROJECT, 'scripts/pictures.js'), '--out', folder, ...PICTURES],
        { env: {} },
      );
      const { code, stderr } = await script.result;
      expect(code, stderr).toBe(0);
      expect((await readdir(folder)).sort()).toEqual(PICTURES.map((name) => `${name}.png`));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);
