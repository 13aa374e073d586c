/** Of the packages for caches: an empty folder has them by their READMEs, whose code TypeScript, Node and a browser's bundler take. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { bundleFaults } from './check-client.js';
import { compiler } from './compiler.js';
import { inBrowser } from './in-browser.js';
import { lowestPeers } from './lowest.js';
import { oldestTypeFaults } from './oldest-types.js';
import { served } from './served.js';
import { blocksOf } from './shown-commands.js';
import { walkPage } from './walk-page.js';

/** What a page has of its own. */
const OF_THE_HOST = `declare const getToken: () => Promise<string>;
declare const draw: (feed: { readonly edges: readonly unknown[] } | undefined) => void;
`;
const OPTIONS = [
  '--strict',
  '--skipLibCheck',
  '--module',
  'nodenext',
  '--target',
  'es2023',
  '--ignoreConfig',
];

/** A reader's page: what somebody else publishes meanwhile comes live, and what the reader does to it is shown. */
const PAGE_FILE = `import { createFanfare } from 'PACKAGE';
const faults = [];
const until = async (what, isSo) => {
  for (let turn = 0; turn < 4000; turn += 1) {
    if (isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  faults.push('It never came to this: ' + what);
};
const { url, token } = SERVER;
const fanfare = createFanfare({ url, token, onError: (error) => faults.push(String(error)) });
const ask = (query) => fetch(url, { method: 'POST', headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' }, body: JSON.stringify({ query }) });
const feed = fanfare.feed({ first: 5 });
const edges = () => feed.read()?.feed?.edges ?? feed.read()?.edges ?? [];
window.tried = (async () => {
  let isLive = false;
  const stop = feed.watch(() => { isLive = true; });
  await until('the feed is loaded', () => feed.read() !== undefined);
  await ask('mutation { publishAction(input: { mentions: ["demo"], descriptor: { custom: { verb: "ran", objectType: "page", objectId: "PACKAGE" } } }) { action { id } } }');
  await until('an event came', () => isLive && edges().length > 0);
  const action = () => edges()[0]?.node.action;
  if (faults.length > 0) return faults;
  const { id } = action();
  await fanfare.like(id);
  await until('the like is shown', () => action().viewer.hasLiked && action().engagement.likes === 1);
  await fanfare.unlike(id);
  await until('it is taken back', () => !action().viewer.hasLiked && action().engagement.likes === 0);
  await fanfare.comment(id, 'Well done');
  await until('the comment counts', () => action().engagement.comments === 1);
  stop();
  return faults;
})();`;

/**
 * @param cwd an empty folder
 * @param options env: of the processes that are started
 * @returns faults, as lines
 */
export async function checkCaches(cwd, { env }) {
  const names = ['apollo', 'urql'];
  const newest = await Promise.all(names.map((name) => checkCache(join(cwd, name), name, env)));
  return [...newest.flat(), ...(await checkLowest(join(cwd, 'lowest'), names, env))];
}

/** The lowest of everything that is allowed beside them, in a page of a server's reader. */
async function checkLowest(cwd, names, env) {
  await mkdir(cwd);
  const server = [
    process.execPath,
    [resolve('bin/fanfare.js'), 'serve'],
    { cwd, env: { ...env, PORT: '0' } },
  ];
  return served(...server, async (_, to) => {
    const faults = [];
    for (const name of names) {
      const folder = join(cwd, name);
      const run = (command, args) => promisify(execFile)(command, args, { cwd: folder, env, maxBuffer: 1e8 });
      await mkdir(folder);
      await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
      const peers = await lowestPeers(
        JSON.parse(await readFile(`packages/${name}/package.json`, 'utf8')),
        run,
      );
      await run('npm', ['install', `@fanfare/${name}`, '@fanfare/client', ...peers]);
      const entry = join(folder, 'page.js');
      const text = PAGE_FILE.replaceAll('PACKAGE', `@fanfare/${name}`);
      await writeFile(
        entry,
        text.replace('SERVER', () => JSON.stringify(to)),
      );
      const found = await inBrowser(entry);
      faults.push(...found.map((fault) => `@fanfare/${name} with ${peers.join(', ')}: ${fault}`));
      if (found.length === 0) console.log(`@fanfare/${name} works in a page with ${peers.join(', ')}`);
    }
    return faults;
  });
}

/** What the page of the package shows, as a file of its own. */
async function shownCode(name) {
  const text = await readFile(`packages/${name}/README.md`, 'utf8');
  const [{ code } = {}] = blocksOf(text).filter(({ language }) => language === 'ts');
  return `${OF_THE_HOST}${code}`;
}

async function checkCache(cwd, name, env) {
  const run = (command, args) => promisify(execFile)(command, args, { cwd, env, maxBuffer: 1e8 });
  const page = `packages/${name}/README.md`;
  await mkdir(cwd);
  await writeFile(join(cwd, 'package.json'), '{ "private": true, "type": "module" }');
  const { faults } = await walkPage(page, { cwd, env });
  await writeFile(join(cwd, 'shown.ts'), await shownCode(name));
  await run(process.execPath, [compiler(), '--noEmit', ...OPTIONS, 'shown.ts']).catch(({ stdout }) =>
    faults.push(`${page}: its code: ${stdout}`),
  );
  faults.push(
    ...(await oldestTypeFaults(cwd, { name: `@fanfare/${name}`, code: await shownCode(name), env })),
  );
  const imports = `import { createFanfare } from '@fanfare/${name}';
const fanfare = createFanfare({ url: 'http://127.0.0.1:9/graphql', token: 'token' });
console.log(typeof fanfare.feed().watch);`;
  await writeFile(join(cwd, 'entry.js'), imports);
  const { stdout, stderr } = await run(process.execPath, ['entry.js']).catch((error) => error);
  if (stdout !== 'function\n') faults.push(`@fanfare/${name} in Node: ${stdout}${stderr}`);
  faults.push(...(await bundleFaults(cwd, `@fanfare/${name}`)));
  if (faults.length === 0) console.log(`@fanfare/${name} works, in Node and bundled for a browser`);
  return faults;
}
