import { expect, test } from 'vitest';
import { createFailureLog } from '../../../src/telemetry/failure-log.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';

test('logs the first failure of an outage with its stack, repeats in one line each, and other failures completely', () => {
  const lines: string[] = [];
  let now = 0;
  const logger = createLogger({ level: 'warn', sink: { write: (line) => void lines.push(line) } });
  const log = createFailureLog(logger, () => now);
  const full = new Error('No space left on device');
  const logged = (err: unknown, isUnavailable: boolean): string => {
    log(err, 'some-id', isUnavailable);
    const line = JSON.parse(lines.pop() ?? '{}') as {
      level: string;
      errorId: string;
      err?: { stack: string };
      reason?: string;
    };
    expect(lines).toEqual([]);
    expect(line.errorId).toBe('some-id');
    return `${line.level}: ${line.err?.stack.includes('failure-log.test') === true ? 'stack' : (line.reason ?? 'nothing')}`;
  };
  expect(logged(full, true)).toBe('error: stack');
  for (let n = 0; n < 5; n += 1) {
    now += 50_000;
    expect(logged(full, true)).toBe('warn: No space left on device');
    expect(logged(new TypeError('A bug'), false)).toBe('error: stack');
  }
  now += 60_000;
  expect(logged(full, true)).toBe('error: stack');
});
