import { expect, it, vi } from 'vitest';
import { fitted, openWaitingLine } from '../../../src/cli/waiting-line.ts';
import { recordingTerminal } from '../../support/recording-terminal.ts';

it('shows the current activity within two seconds, and then clears the line', () => {
  vi.useFakeTimers();
  try {
    const { terminal, stderr } = recordingTerminal();
    const line = openWaitingLine({ ...terminal, isInteractive: true });
    line.now('Making an empty database');
    vi.advanceTimersByTime(1_900);
    expect(stderr.at(-1)).toContain('Making an empty database 1 s');
    line.now(null);
    stderr.length = 0;
    vi.advanceTimersByTime(10_000);
    expect(stderr).toEqual([]);
    line.now('Preparing indexes');
    vi.advanceTimersByTime(3_200);
    expect(stderr.at(-1)).toContain('Preparing indexes 3 s');
    line[Symbol.dispose]();
    expect(stderr.at(-1)).toBe('\r\u001b[K');
  } finally {
    vi.useRealTimers();
  }
});

it('keeps a message on one line', () => {
  expect(fitted('short')).toBe('short');
  expect(fitted('x'.repeat(200))).toBe(`${'x'.repeat(79)}…`);
});
