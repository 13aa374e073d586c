import { expect, test } from 'vitest';
import { JobRunner } from '../../../src/jobs/job.ts';
import { reporting } from '../../support/jobs.ts';

test('a job that cannot release what it holds says so, and is stopped all the same', async () => {
  const said: unknown[] = [];
  const away = new Error('The database is away');
  const runner = new JobRunner(
    { name: 'job', every: 1_000, run: () => Promise.resolve(false), close: () => Promise.reject(away) },
    { logger: reporting((error) => said.push(error)) },
  );
  await runner.stop();
  expect(said).toEqual([away]);
});
