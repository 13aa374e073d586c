import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NewsfeedItemDocument } from '../../src/storage/documents/documents.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { publish, upsert } from '../support/feed-api.ts';
import { runCli } from '../support/run-cli.ts';

const READERS = ['ann', 'bob', 'cid'];

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  await upsert(app, { pairs: READERS.map((followerId) => ({ followerId, refId: 'actor' })) });
  for (let n = 0; n < 3; n += 1) await publish(app);
  await app.idle();
});
afterAll(async () => app[Symbol.asyncDispose]());

/** Loses what is stored, rebuilds, and gives whose entries are stored then. */
async function rebuilt(args: readonly string[]): Promise<{ code: number | null; holders: string[] }> {
  const newsfeedItems = app.app.database.db.collection<NewsfeedItemDocument>('newsfeedItems');
  await newsfeedItems.deleteMany({});
  const { code, stdout } = await runCli(['rebuild', ...args], app.env);
  expect(stdout).toBe('');
  const items = await newsfeedItems.find().toArray();
  return { code, holders: items.map(({ userId }) => userId).sort() };
}

describe('fanfare rebuild', () => {
  it('rebuilds the stored feeds of all readers', async () => {
    const holders = READERS.flatMap((reader) => [reader, reader, reader]);
    expect(await rebuilt([])).toEqual({ code: 0, holders });
  });

  it('rebuilds the feed of one reader', async () => {
    expect(await rebuilt(['--member', 'bob'])).toEqual({ code: 0, holders: ['bob', 'bob', 'bob'] });
  });

  it('reports an unknown member, as export does', async () => {
    const rebuild = await runCli(['rebuild', '--member', 'nobody'], app.env);
    expect(rebuild).toMatchObject({ code: 1, stdout: '' });
    expect(rebuild.stderr).toContain('Nothing is known of such a member');
    const exported = await runCli(['export', '--member', 'nobody'], app.env);
    expect(exported).toMatchObject({ code: 1, stdout: '' });
    expect(exported.stderr).toContain('Nothing is stored about "nobody": nothing was written.');
  });
});
