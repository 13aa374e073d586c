import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BSON, type Document } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { runCli, startCli } from '../support/run-cli.ts';

// `fanfare offload` and `fanfare restore` as processes that are killed in the middle, and run again.

const ACTIONS = 60;
/** Those of the first days are old. */
const OLD = 40;
const BEFORE = '2024-03-01';
const READERS = ['ann', 'bob', 'cid'];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fanfare-offload-kills-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Actions of two months, with what people do with them. */
async function fill({ services, identity, session }: TestApp): Promise<void> {
  const service = identity('service', 'service');
  await services.followMany(service, [{ followerId: 'cid', refId: 'actor' }]);
  const outcomes = await services.publishActions(
    service,
    Array.from({ length: ACTIONS }, (_, n) => ({
      ...{ actorId: 'actor', scope: 'PUBLIC' as const, mentions: ['ann', 'bob'] },
      ...(n % 3 === 0 ? {} : { idempotencyKey: `key-${String(n)}` }),
      conducted: new Date(Date.UTC(2024, 0, 1) + n * 86_400_000 + (n < OLD ? 0 : 40 * 86_400_000)),
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: String(n) } },
    })),
  );
  for (const [n, { action }] of outcomes.entries()) {
    if (action === null) throw new Error('It was refused');
    if (n % 4 !== 0) continue;
    await services.addInteraction(session('host', 'service'), {
      ...{
        actionId: action.id,
        actorId: 'bob',
        kind: 'COMMENT',
        text: `Comment ${String(n)}`,
        idempotencyKey: 'c',
      },
      at: action.conducted,
    });
    await services.bookmark(session('ann'), action.id);
  }
}

/** What is kept of each action, but for how it was delivered; and what readers see. */
async function seen(app: TestApp): Promise<{ readonly stored: string[]; readonly feeds: unknown }> {
  await app.idle();
  const { actions, interactions, bookmarks } = app.app.database.collections;
  const stored = await Promise.all(
    [actions, interactions, bookmarks].map(async (collection) => {
      const documents = await (collection as unknown as typeof actions).find().toArray();
      return documents.map((document) => {
        const { fanOut: _fanOut, rev: _rev, ...rest } = document as Document;
        return `${collection.collectionName} ${BSON.EJSON.stringify(sorted(rest))}`;
      });
    }),
  );
  const feeds = await Promise.all(
    READERS.map(async (reader) => {
      const session = app.session(reader);
      const { edges } = await app.services.readFeed(session, { first: 100 });
      return [
        reader,
        edges.map(({ node }) => [node.actionId, node.relevancy]),
        await app.services.countUnread(session),
      ];
    }),
  );
  return { stored: stored.flat().sort(), feeds };
}

function sorted(document: Document): Document {
  return Object.fromEntries(Object.entries(document).sort(([a], [b]) => (a < b ? -1 : 1)));
}

test('offload and restore, killed at any step and run again, lose and repeat nothing', async () => {
  await using app = await startTestApp({ env: { EVENT_RETENTION: 'off' } });
  await fill(app);
  const before = await seen(app);
  expect(before.stored.length).toBeGreaterThan(ACTIONS);
  const { actions } = app.app.database.collections;
  const env = { ...app.env, LOG_LEVEL: 'silent' };
  const path = join(folder, 'old.ndjson.gz');
  const offload = ['offload', '--before', BEFORE, '--to', path];
  const inStage = (stage: string) => actions.countDocuments({ 'offload.stage': stage });

  /** Kills a command as soon as something is so. */
  async function killOnce(args: readonly string[], isSo: () => Promise<boolean>): Promise<void> {
    await using cli = startCli(args, env);
    await expect.poll(isSo, { timeout: PATIENCE_MS, interval: 5 }).toBe(true);
    cli.signal('SIGKILL');
    expect((await cli.result).code).toBeNull();
  }
  const doctor = async (): Promise<string> => (await runCli(['doctor'], env)).stdout;

  expect(await doctor()).not.toContain('Offload');
  // All are claimed: nobody sees them any more, and nothing of them is gone.
  await killOnce(offload, async () => (await inStage('CLAIMED')) > 0);
  expect(await doctor()).toMatch(
    /Offload.*actions are being offloaded; if no offload is running, run it again/,
  );
  // While they are withdrawn, which workers of the server do.
  await killOnce([...offload, '--no-worker'], async () => (await inStage('LEAVING')) > 0);
  const out = await runCli(offload, env);
  expect(out.code).toBe(0);
  expect(out.stdout).toContain(`${String(OLD)} of ${String(OLD)} actions were moved to ${path}`);
  const again = await runCli(offload, env);
  expect(again).toMatchObject({
    code: 0,
    stdout: `${String(OLD)} of ${String(OLD)} actions were moved to ${path}, ${String(OLD)} of them by an earlier run.\n`,
  });
  expect(await doctor()).not.toContain('Offload');
  expect(await actions.countDocuments({ isDeleted: false })).toBe(ACTIONS - OLD);
  expect(await inStage('OUT')).toBe(Math.floor((OLD * 2) / 3));

  const restore = ['restore', path];
  await killOnce(restore, async () => (await inStage('RETURNING')) > 0);
  const back = await runCli(restore, env);
  expect(back.code).toBe(0);
  expect(await doctor()).not.toContain('Offload');
  expect(await seen(app)).toEqual(before);
  // Once more changes nothing.
  expect((await runCli(restore, env)).stdout).toContain('0 actions of');
  expect(await seen(app)).toEqual(before);
});
