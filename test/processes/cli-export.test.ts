import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestApp } from '../support/app.ts';
import { publish, upsert } from '../support/feed-api.ts';
import { runCli } from '../support/run-cli.ts';

const ID = 'zq-e2e-51c7';
const NAME = 'Zebulon Quux';

test('exports a member on the command line: to stdout, to a file and from a running server', async () => {
  await using app = await startTestApp();
  await upsert(app, { members: [{ memberId: ID, name: NAME }] });
  const id = await publish(app, { actorId: ID });
  const folder = await mkdtemp(join(tmpdir(), 'fanfare-export-'));
  try {
    const expected = {
      member: { name: NAME },
      actions: [{ id: Buffer.from(id, 'base64').toString().slice('Action:'.length), as: ['ACTOR'] }],
    };
    const printed = await runCli(['export', '--member', ID], app.env);
    expect(printed.code).toBe(0);
    expect(JSON.parse(printed.stdout)).toMatchObject(expected);

    const out = join(folder, 'export.json');
    const written = await runCli(['export', '--member', ID, '--out', out], app.env);
    expect(written).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining(`Written to ${out}`) as string,
    });
    expect(JSON.parse(await readFile(out, 'utf8'))).toMatchObject(expected);
    expect((await stat(out)).mode & 0o777).toBe(0o600);
    const again = await runCli(['export', '--member', ID, '--out', out], app.env);
    expect(again).toMatchObject({ code: 1, stdout: '', stderr: `--out ${out} already exists\n` });

    const asked = await runCli(['export', '--member', ID, '--url', app.url], app.env);
    expect(asked).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(asked.stdout)).toMatchObject(expected);
  } finally {
    await rm(folder, { recursive: true });
  }
});
