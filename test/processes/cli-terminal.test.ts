import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../support/patience.ts';
import { isRunning } from '../support/processes.ts';
import { isLeftOut } from '../support/needed.ts';
import { hasScript, startInTerminal } from '../support/pseudo-terminal.ts';

const MAIN = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));
const FIXTURE = fileURLToPath(new URL('fixtures/progress-bar.ts', import.meta.url));
const CTRL_C = '\u0003';
const HIDES = ['\u001b[?25l', '\u001b[?7l'];
const GIVES_BACK = ['\u001b[?25h', '\u001b[?7h'];

/** Whether the last word on the cursor and on the wrapping of lines gives each back. */
function givesBack(screen: string): boolean {
  return GIVES_BACK.every((code, index) => screen.lastIndexOf(code) > screen.lastIndexOf(HIDES[index] ?? ''));
}

// `script` of util-linux makes the terminal.
describe.skipIf(isLeftOut(hasScript()))('a progress bar in a terminal', () => {
  it('restores the terminal at Ctrl-C, and says how to continue', async () => {
    await using terminal = startInTerminal(FIXTURE, ['waits']);
    await terminal.shows(/under way/);
    expect(givesBack(terminal.screen())).toBe(false);
    terminal.type(CTRL_C);
    const { code, screen } = await terminal.end;
    expect(givesBack(screen)).toBe(true);
    expect(screen).toMatch(/Interrupted after \d+ steps\. Run it again\./);
    expect(code).toBe(130);
  });

  it.each([
    ['throws', 1, /Nobody caught this/],
    ['exits', 3, /busy/],
  ])('restores the terminal when the program %s', async (how, exitCode, words) => {
    await using terminal = startInTerminal(FIXTURE, [how]);
    const { code, screen } = await terminal.end;
    expect(givesBack(screen)).toBe(true);
    expect(screen).toMatch(words);
    expect(code).toBe(exitCode);
  });
});

describe.skipIf(isLeftOut(hasScript()))('a server in a terminal', () => {
  it('shuts down cleanly when the window is closed', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'fanfare-window-'));
    await using terminal = startInTerminal(MAIN, ['serve'], { DATA_DIR: dataDir, PORT: '0' });
    await terminal.shows(/Loading/);
    await terminal.shows(/Other tokens/);
    const record = JSON.parse(await readFile(join(dataDir, 'server.json'), 'utf8')) as {
      readonly process: { readonly pid: number };
    };
    const { pid } = record.process;
    try {
      await terminal.closeWindow();
      // Both are there while the server runs; the first stays where a server did not end in order.
      for (const file of ['server.json', 'running-services.json'])
        await expect.poll(() => readdir(dataDir), { timeout: PATIENCE_MS }).not.toContain(file);
      await expect.poll(() => isRunning(pid), { timeout: PATIENCE_MS }).toBe(false);
    } finally {
      if (isRunning(pid)) process.kill(pid, 'SIGKILL');
      await rm(dataDir, { recursive: true, maxRetries: 20 });
    }
  });
});
