import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../../src/http/limits/limits.ts';
import type { Line } from '../../../../src/lib/lines.ts';
import { actionLine } from '../../../../test/support/ingest.ts';
import { recordLines, type Answer } from '../../src/record-lines.ts';

const LINES = 20_000;
/** Three batches that are being recorded, one whose answers wait, and one that is being read, of at most a thousand lines each. */
const MOST_READ = 5_000;

test.each([
  ['that are recorded', actionLine('k')],
  ['that cannot be read', 'x'],
])('while the answers to lines %s are not read, no more lines are', async (_what, text) => {
  let read = 0;
  async function* lines(): AsyncGenerator<Line> {
    for (let number = 1; number <= LINES; number++) {
      read = number;
      if (number % 100 === 0) await nextTurn();
      yield { number, text, fault: null };
    }
  }
  let goOn = (): void => undefined;
  const isReading = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const answered: Answer[] = [];
  const done = recordLines(lines(), {
    keyOf: () => null,
    bounds: DEFAULT_LIMITS.json,
    publish: (inputs) =>
      Promise.resolve(
        inputs.map(() => ({ action: { id: '0'.repeat(24) } as never, isReplay: false, error: null })),
      ),
    async answer(answers) {
      await isReading;
      answered.push(...answers);
    },
  });
  // As many turns as all of the lines would take.
  for (let turn = 0; turn < LINES / 100; turn++) await nextTurn();
  expect([read > 0, read < MOST_READ]).toEqual([true, true]);
  goOn();
  await done;
  expect(answered.map(({ line }) => line)).toEqual(Array.from({ length: LINES }, (_, n) => n + 1));
});
