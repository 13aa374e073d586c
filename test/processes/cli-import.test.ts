import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { runCli, startCli } from '../support/run-cli.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { PROJECT } from '../support/project-copy.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fanfare-import-'));
  await writeFile(
    join(folder, 'members.ndjson'),
    lines([
      { memberId: 'ann', name: 'Ann' },
      { memberId: 'bob', name: 'Bob' },
    ]),
  );
  await writeFile(
    join(folder, 'refs.ndjson.gz'),
    gzipSync(
      `${lines([{ id: 'site:1', type: 'site', label: 'Berlin' }])}\n{"id":"","type":"site","label":"Nowhere"}\n`,
    ),
  );
  await writeFile(join(folder, 'follows.ndjson'), lines([{ followerId: 'ann', refId: 'site:1' }]));
  const actions = Array.from({ length: 603 }, (_, n) => ({
    actorId: 'bob',
    conducted: new Date(Date.UTC(2024, 0, 1) + n * 1_000).toISOString(),
    refs: [{ id: 'site:1', type: 'site', label: 'Berlin' }],
    descriptor: { custom: { verb: 'visited', objectType: 'site', objectId: `visit:${n}` } },
  }));
  await writeFile(join(folder, 'many-actions.ndjson'), lines(actions));
  await writeFile(
    join(folder, 'actions.ndjson'),
    [
      lines(actions.slice(0, 103)),
      'not json',
      JSON.stringify({ ...actions[0], scope: 'RESTRICTED' }),
      JSON.stringify({ ...actions[0], descriptor: { custom: { verb: 'visited' } } }),
    ].join('\n'),
  );
});
afterAll(() => rm(folder, { recursive: true }));

function lines(records: readonly object[]): string {
  return records.map((record) => JSON.stringify(record)).join('\n');
}

const ARGS = [
  '--members',
  'members.ndjson',
  '--refs',
  'refs.ndjson.gz',
  '--follows',
  'follows.ndjson',
  '--actions',
  'actions.ndjson',
];

function importArgs(): string[] {
  return ['import', ...ARGS.map((arg) => (arg.startsWith('--') ? arg : join(folder, arg)))];
}

async function newest(app: TestApp): Promise<string[]> {
  const { data } = await app.query<{
    feed: { edges: { node: { action: { descriptor: { objectId: string } } } }[] };
  }>(
    '{ feed(first: 3) { edges { node { action { descriptor { ... on CustomDescriptor { objectId } } } } } } }',
    {},
    { sub: 'ann' },
  );
  return (data?.feed.edges ?? []).map(({ node }) => node.action.descriptor.objectId);
}

const FAULTS = [
  'refs.ndjson.gz:2: ',
  'actions.ndjson:104: The line is not JSON',
  'actions.ndjson:105: ',
  'actions.ndjson:106: ',
];

describe.each(['straight into the databases', 'through the API'])('fanfare import, %s', (way) => {
  it('imports all valid records, reports every invalid line, waits for the feeds and can be run again', async () => {
    await using app = await startTestApp({ worker: way === 'through the API' });
    const args = way === 'through the API' ? [...importArgs(), '--url', app.url, '--wait'] : importArgs();
    const env = { ...app.env, DATA_DIR: folder };
    const first = await runCli(args, env);
    expect(first.stdout).toMatch(/^members +2 lines in [\d.]+ s, 2 written$/m);
    expect(first.stdout).toMatch(/^refs +2 lines in [\d.]+ s, 1 written, 1 bad$/m);
    expect(first.stdout).toMatch(/^follows +1 line in [\d.]+ s, 1 written$/m);
    expect(first.stdout).toMatch(/^actions +106 lines in [\d.]+ s, 103 written, 3 bad$/m);
    expect(first.stdout).toMatch(/^fan-out +done after/m);
    for (const fault of FAULTS) expect(first.stderr).toContain(join(folder, fault));
    expect(first.stderr).toContain('4 lines could not be imported.');
    expect(first.code).toBe(1);
    expect(await newest(app)).toEqual(['visit:102', 'visit:101', 'visit:100']);

    const second = await runCli(args, env);
    expect(second.stdout).toMatch(
      /^actions +106 lines in [\d.]+ s, 0 written, 103 already recorded, 3 bad$/m,
    );
    const count = await app.app.database.collections.actions.countDocuments();
    expect(count).toBe(103);
  });
});

describe('fanfare import', () => {
  it('continues where an interrupted run stopped', async () => {
    await using app = await startTestApp({ worker: false });
    const env = { ...app.env, DATA_DIR: folder };
    const args = [
      'import',
      '--actions',
      join(folder, 'many-actions.ndjson'),
      '--in-flight',
      '1',
      '--url',
      app.url,
    ];
    await using cut = startCli(args, env);
    const recorded = () => app.app.database.collections.actions.countDocuments();
    await expect.poll(recorded, { timeout: PATIENCE_MS, interval: 5 }).toBeGreaterThanOrEqual(500);
    cut.signal('SIGKILL');
    await cut.result;
    const { stdout } = await runCli(args, env);
    const [, written = '0', replays = '0'] =
      /([\d,]+) written(?:, ([\d,]+) already recorded)?/.exec(stdout) ?? [];
    expect(Number(replays.replace(',', ''))).toBeGreaterThanOrEqual(500);
    expect(Number(written.replace(',', '')) + Number(replays.replace(',', ''))).toBe(603);
    expect(await app.app.database.collections.actions.countDocuments()).toBe(603);
  });

  it('says what is missing if the server rejects the token', async () => {
    await using app = await startTestApp({ worker: false });
    const token = await app.token('ann');
    const args = ['import', '--members', join(folder, 'members.ndjson'), '--url', app.url, '--token', token];
    const { code, stderr } = await runCli(args);
    expect(code).toBe(1);
    expect(stderr).toContain('This requires the role service');
  });
});

describe('fanfare demo', () => {
  it('plays its story once and continues with live actions that its reader sees', async () => {
    await using app = await startTestApp();
    const args = ['demo', '--url', app.url, '--interval', '10ms', '--count', '2'];
    const env = { JWT_SECRET: app.env['JWT_SECRET'] ?? '', DATA_DIR: folder };
    const first = await runCli(args, env);
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: '' });
    expect(first.stdout).toContain('hired Mary Fanning as Senior Software Engineer\n');
    expect(first.stdout.match(/^→ /gm)).toHaveLength(2);
    const second = await runCli(args, env);
    expect(second.stdout.match(/\(from last time\)$/gm)).toHaveLength(5);
    await app.idle();
    const { data } = await app.query<{
      feed: { edges: { node: { action: { engagement: { comments: number } } } }[] };
      viewer: { lists: { id: string; name: string }[] };
      scheduledActions: { edges: unknown[] };
    }>(
      `{ feed { edges { node { action { engagement { comments } } } } } viewer { lists { id name } }
        scheduledActions { edges { cursor } } }`,
      {},
      { sub: 'demo', roles: ['service'] },
    );
    expect(data?.feed.edges).toHaveLength(9);
    const comments = data?.feed.edges.map(({ node }) => node.action.engagement.comments) ?? [];
    expect(comments.filter((count) => count > 0)).toEqual([2]);
    // One of each run, and one list of both.
    expect(data?.scheduledActions.edges).toHaveLength(2);
    expect(data?.viewer.lists.map(({ name }) => name)).toEqual(['Applicants']);
  });

  it('prints commands that work unchanged', async () => {
    await using app = await startTestApp();
    const env = { JWT_SECRET: app.env['JWT_SECRET'] ?? '', DATA_DIR: folder };
    await using demo = startCli(['demo', '--url', app.url, '--interval', '100ms'], env);
    const [, token = ''] = await demo.stdoutHas(/^ {2}TOKEN=(\S+)$/m);
    const [, body = ''] = await demo.stdoutHas(/text\/event-stream' -d '(.+)'$/m);
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body,
    });
    let events = '';
    for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      events += text;
      // An event may come in pieces, and it may be about something else.
      if (/FeedItemAdded[^]*Senior Software Engineer/.test(events)) break;
    }
    expect(events).toMatch(/FeedItemAdded[^]*Senior Software Engineer/);
  });
});

describe('fanfare import --format', () => {
  const fixture = (name: string) => join(PROJECT, 'parts/import/test/fixtures', `${name}.ndjson`);

  it('says in a dry run what would become of an export, and then writes it', async () => {
    await using app = await startTestApp({ worker: false });
    const args = ['import', '--format', 'getstream', '--actions', fixture('getstream-actions')];
    const dry = await runCli([...args, '--dry-run'], { DATA_DIR: folder });
    expect(dry.stdout).toMatch(/^actions +7 lines in [\d.]+ s, 2 good, 5 bad$/m);
    expect(dry.stdout).toMatch(/^actions of getstream: 2 mapped, 4 not$/m);
    expect(dry.stdout).toMatch(/^ {2}not mapped +1 {2}no verb$/m);
    expect(dry.stderr).toContain('Nothing was written');
    expect(dry.code).toBe(1);
    const done = await runCli([...args, '--url', app.url], { ...app.env, DATA_DIR: folder });
    expect(done.stdout).toMatch(/^actions of getstream: 2 mapped, 4 not$/m);
    expect(await app.app.database.collections.actions.countDocuments()).toBe(2);
    const none = await runCli(
      ['import', '--format', 'activitystreams', '--members', fixture('getstream-members')],
      { DATA_DIR: folder },
    );
    expect(none).toMatchObject({ code: 1, stdout: '' });
    expect(none.stderr).toContain('--members: activitystreams has nothing of the kind');
  });
});
