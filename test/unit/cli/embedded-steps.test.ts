import { expect, test } from 'vitest';
import { embeddedSteps } from '../../../src/cli/embedded-steps.ts';
import { silentLogger } from '../../../src/telemetry/logger.ts';
import { recordingTerminal } from '../../support/recording-terminal.ts';

test('a log has a line for each tenth of a step, and for each message without progress', () => {
  const lines: unknown[] = [];
  const write = (line: unknown): void => void lines.push(line);
  using steps = embeddedSteps(recordingTerminal().terminal, {
    ...silentLogger(),
    info: write,
    error: write,
  });
  for (let part = 0; part <= 100; part++) {
    steps.onEvent({ step: 'download', message: 'Fetching', fraction: part / 100 });
    if (part === 50) steps.onEvent({ step: 'choice', message: 'This one' });
  }
  steps.onEvent({ step: 'unpack', message: 'Unpacking', fraction: 0 });
  expect(lines).toHaveLength(11 + 1 + 1);
  expect(lines.at(-2)).toMatchObject({ step: 'download', fraction: 1 });
});
