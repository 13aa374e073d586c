import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { defineConfig } from 'vite';
import { exampleConfig } from './config.ts';

/** Of the server that `npm start` prints. */
const url = 'http://127.0.0.1:4000';

/** As `npx fanfare token` signs it: for development, beside the server. */
async function token(): Promise<string> {
  const { stdout } = await promisify(execFile)('npx', ['fanfare', 'token', '--sub', 'demo'], {
    cwd: new URL('../..', import.meta.url),
  });
  return stdout.trim();
}

export default defineConfig(exampleConfig({ url, token }));
