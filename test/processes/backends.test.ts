import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, TEST_SECRET, type TestApp } from '../support/app.ts';
import { ask } from '../support/feed-api.ts';
import { PROJECT } from '../support/project-copy.ts';

const run = promisify(execFile);
const PAGE = await readFile(join(PROJECT, 'docs/backend.md'), 'utf8');

/** @param title of a tab */
function block(title: string): string {
  return (
    new RegExp(`^\`\`\`\\w+ \\[${title}\\]\\n(.*?)^\`\`\``, 'ms').exec(PAGE)?.[1] ?? expect.unreachable(title)
  );
}
const ACTION = /^```json\n(.*?)^```/ms.exec(PAGE)?.[1] ?? expect.unreachable();

/** What a host's own code has: it calls both, and prints the token and the id. */
const BACKENDS = [
  {
    ...{ title: 'Node', program: 'node', file: 'fanfare.js', main: 'main.js' },
    calls: `import { publish, tokenFor } from './fanfare.js';
      console.log(JSON.stringify([tokenFor('ann'), await publish(JSON.parse(process.argv[2]))]));`,
    args: ['main.js'],
  },
  {
    ...{ title: 'Python', program: 'python3', file: 'fanfare.py', main: 'main.py' },
    calls: `import json, sys\nfrom fanfare import publish, token_for
print(json.dumps([token_for("ann"), publish(json.loads(sys.argv[1]))]))`,
    args: ['main.py'],
  },
  {
    ...{ title: 'Go', program: 'go', file: 'fanfare.go', main: 'main.go' },
    calls: `package main
import ("encoding/json"; "fmt"; "os")
func main() {
  var action map[string]any
  json.Unmarshal([]byte(os.Args[1]), &action)
  id, err := publish(action)
  if err != nil { panic(err) }
  said, _ := json.Marshal([]string{tokenFor("ann", "user"), id})
  fmt.Println(string(said))
}`,
    args: ['run', 'fanfare.go', 'main.go'],
  },
  {
    ...{ title: 'Ruby', program: 'ruby', file: 'fanfare.rb', main: 'main.rb' },
    calls: `require_relative "fanfare"
puts [token_for("ann"), publish(JSON.parse(ARGV[0]))].to_json`,
    args: ['main.rb'],
  },
  {
    ...{ title: 'PHP', program: 'php', file: 'fanfare.php', main: 'main.php' },
    calls: `<?php require 'fanfare.php';
echo json_encode([token_for('ann'), publish(json_decode($argv[1], true))]);`,
    args: ['main.php'],
  },
] as const;

const isHere = (program: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));

describe('the backends of docs/backend.md', () => {
  let app: TestApp;
  let folder = '';
  let env: NodeJS.ProcessEnv = {};
  beforeAll(async () => {
    app = await startTestApp();
    folder = await mkdtemp(join(tmpdir(), 'fanfare-backends-'));
    env = {
      ...{ PATH: process.env['PATH'], HOME: folder, LANG: 'C.UTF-8', PYTHONDONTWRITEBYTECODE: '1' },
      ...{ JWT_SECRET: TEST_SECRET, FANFARE_URL: `${app.url}/graphql` },
    };
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await symlink(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  });
  afterAll(async () => {
    await app[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  for (const { title, program, file, main, calls, args } of BACKENDS)
    test.skipIf(!isHere(program))(
      `${title} signs and publishes; what is refused is an error${isHere(program) ? '' : ` (skipped: there is no ${program} on this machine)`}`,
      async () => {
        await writeFile(join(folder, file), block(title));
        await writeFile(join(folder, main), calls);
        const call = (action: string) =>
          run(program, [...args, action], { cwd: folder, env, timeout: 60_000 });
        const own = JSON.parse(ACTION) as { readonly idempotencyKey: string };
        const key = `${own.idempotencyKey} by ${title}`;
        const [token = '', id = ''] = JSON.parse(
          (await call(JSON.stringify({ ...own, idempotencyKey: key }))).stdout,
        ) as string[];
        expect(id).toMatch(/\w/);
        const response = await fetch(`${app.url}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
          body: JSON.stringify({
            query:
              'query ($id: ID!) { viewer { memberId } node(id: $id) { ... on Action { descriptor { summary } } } }',
            variables: { id },
          }),
        });
        expect(await response.json()).toEqual({
          data: {
            viewer: { memberId: 'ann' },
            node: { descriptor: { summary: expect.stringContaining('Hello') as string } },
          },
        });
        await expect(call('{"descriptor": {"postd": {}}}')).rejects.toThrow(/Did you mean/);
      },
    );

  test('the route for the token is for who is signed in, and is not kept', async () => {
    await writeFile(join(folder, 'fanfare.js'), block('Node'));
    await writeFile(join(folder, 'express.js'), block('Express'));
    await writeFile(join(folder, 'route.js'), block('Next.js'));
    await writeFile(
      join(folder, 'accounts.js'),
      `export const signedIn = ({ headers }) => {
        const id = headers.get?.('x-user') ?? headers['x-user'];
        return id === undefined ? null : { id };
      };`,
    );
    await writeFile(
      join(folder, 'routes.js'),
      `import { app } from './express.js';
      import { GET } from './route.js';
      const server = app.listen(0);
      const url = \`http://127.0.0.1:\${server.address().port}/fanfare-token\`;
      const said = [];
      for (const headers of [{}, { 'x-user': 'ben' }])
        for (const answer of [await fetch(url, { headers }), await GET(new Request(url, { headers }))])
          said.push([answer.status, answer.headers.get('cache-control'), (await answer.text()).split('.')[1]]);
      server.close();
      console.log(JSON.stringify(said));`,
    );
    const { stdout } = await run('node', ['routes.js'], { cwd: folder, env, timeout: 60_000 });
    const said = JSON.parse(stdout) as [number, string | null, string | undefined][];
    const subOf = (claims = ''): unknown =>
      (JSON.parse(Buffer.from(claims, 'base64url').toString() || '{}') as { readonly sub?: string }).sub;
    expect(said.map(([status, , claims]) => [status, status === 200 ? subOf(claims) : undefined])).toEqual([
      [401, undefined],
      [401, undefined],
      [200, 'ben'],
      [200, 'ben'],
    ]);
    expect(said.filter(([status]) => status === 200).map(([, kept]) => kept)).toEqual([
      'no-store',
      'no-store',
    ]);
  });

  test('what the page tells of people and things is taken', async () => {
    const query = /^```graphql\n(.*?)^```/ms.exec(PAGE)?.[1] ?? expect.unreachable();
    expect(await ask(app, query)).toEqual({ upsertMembers: 1, upsertRefs: 1, followMany: 1 });
  });
});
