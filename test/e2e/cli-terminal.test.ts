import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startInTerminal } from '../support/pseudo-terminal.ts';

const FIXTURE = fileURLToPath(new URL('fixtures/progress-bar.ts', import.meta.url));
const CTRL_C = '\u0003';
const HIDES = ['\u001b[?25l', '\u001b[?7l'];
const GIVES_BACK = ['\u001b[?25h', '\u001b[?7h'];

function hasScript(): boolean {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
}

/** Whether the last word on the cursor and on the wrapping of lines gives each back. */
function givesBack(screen: string): boolean {
  return GIVES_BACK.every((code, index) => screen.lastIndexOf(code) > screen.lastIndexOf(HIDES[index] ?? ''));
}

// `script` of util-linux makes the terminal.
describe.skipIf(!hasScript())('a progress bar in a terminal', () => {
  it('gives the terminal back at Ctrl-C, and says how to go on', async () => {
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
  ])('gives the terminal back when the program %s', async (how, exitCode, words) => {
    await using terminal = startInTerminal(FIXTURE, [how]);
    const { code, screen } = await terminal.end;
    expect(givesBack(screen)).toBe(true);
    expect(screen).toMatch(words);
    expect(code).toBe(exitCode);
  });
});
