import { expect, test } from 'vitest';
import { allEnded } from '../../../src/lib/closer.ts';

test('waits for all to end although one has failed', async () => {
  let end = (): void => undefined;
  const late = new Promise<void>((resolve) => {
    end = resolve;
  });
  let isOver = false;
  const ending = allEnded([Promise.reject(new Error('One failed')), late], 'Several failed').finally(() => {
    isOver = true;
  });
  ending.catch(() => undefined);
  await new Promise(setImmediate);
  expect(isOver).toBe(false);
  end();
  await expect(ending).rejects.toThrow('One failed');
});

test('reports all that failed', async () => {
  const failures = [new Error('One'), new Error('Two')];
  const ending = allEnded(
    failures.map((error) => Promise.reject(error)),
    'Several failed',
  );
  await expect(ending).rejects.toEqual(new AggregateError(failures, 'Several failed'));
});
