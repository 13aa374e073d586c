/**
 * Does what a page tells a newcomer, block by block and word for word: runs the commands, asks the server that they started what
 * is to be asked, and holds its answer against the one that the page shows.
 */
import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { blocksOf, commandsIn } from './shown-commands.js';

const PATIENCE_MS = 240_000;
/** What goes on until it is stopped, and what it has printed once it does what it is for. */
const LASTING = [
  [/^npx @fanfare\/server serve$|^npm start$/, /(http:\S+)\/graphql[^]*?(Bearer \S+)\s/],
  [/^npx @fanfare\/server demo$/, /Live actions[^]*\n.*\S.*\n/],
  [/^curl -sN .*subscription/, /FeedItemAdded[^]*summary/],
  [/(?:^| )npx vite$/, /(http:\/\/[\w.]+:\d+)\//],
];
/** A file that the page shows: its name is a comment on the first line. */
const FILE = /^(?:\/\/|<!--) ([\w.-]+\.\w+)(?: -->)?\n/;
/** Differ each time. */
const OF_THE_MOMENT = new Set(['relevancy', 'endCursor']);

/**
 * @param page the path of a file
 * @param options cwd: where somebody does that; env; from, to: the texts between which that stands;
 * after: called after each command with what it printed, returns a fault or null
 * @returns faults
 */
export async function walkPage(page, { cwd, env, from = '', to = from, after = () => null }) {
  const text = await readFile(page, 'utf8');
  const walk = { page, cwd, env: { ...env, PORT: '0' }, after, faults: [], running: [] };
  for (const one of [from, to]) if (!text.includes(one)) return { faults: [`${page} does not say "${one}"`] };
  const [begins, ends] = [text.indexOf(from), to === from ? text.length : text.indexOf(to)];
  try {
    for (const { language, code } of blocksOf(text.slice(begins, ends))) {
      if (language === 'sh') for (const command of commandsIn(code)) await runCommand(walk, command);
      else if (language === 'graphql') await askAs(walk, code);
      else if (language === 'json') await expectAnswer(walk, JSON.parse(code));
      else if (FILE.test(code)) await writeShown(walk, code);
    }
  } catch (error) {
    walk.faults.push(`${page}: ${error.message}`);
  } finally {
    await Promise.all(walk.running.map((process) => process.stop()));
  }
  return { faults: walk.faults };
}

async function runCommand(walk, command) {
  const began = performance.now();
  const [, folder] = /^cd (\S+)$/.exec(command) ?? [];
  if (folder !== undefined) {
    walk.cwd = join(walk.cwd, folder);
    await mkdir(walk.cwd, { recursive: true });
    report(command, began);
    return;
  }
  const [, ready] = LASTING.find(([pattern]) => pattern.test(command)) ?? [null, null];
  // One server at a time: the page says to stop the one before, or needs it no more.
  if (/serve$|^npm start$/.test(command)) await stopServers(walk);
  const running = start(walk, command);
  if (ready === null) await running.ended(0);
  else {
    walk.running.push(running);
    if (/subscription/.test(command)) await until(running, ready, () => ask(walk, walk.mutation));
    else await until(running, ready);
    const [, url, authorization] = ready.exec(running.text());
    if (authorization !== undefined) walk.server = { url, authorization, running };
  }
  const fault = await walk.after(command, running.text(), walk);
  if (fault !== null) walk.faults.push(`${walk.page}: ${command}: ${fault}`);
  report(command, began);
}

function report(command, began) {
  console.log(`  ${((performance.now() - began) / 1000).toFixed(1)} s  ${command}`);
}

async function writeShown({ cwd, server }, code) {
  const [, name] = FILE.exec(code);
  await writeFile(join(cwd, name), atServer(code, server));
}

/** The page names the port that is taken where none is given. */
function atServer(text, server) {
  return server === undefined ? text : text.replaceAll('http://127.0.0.1:4000', server.url);
}

/** A page that is shown stays, and finds the next server where the last one was. */
async function stopServers(walk) {
  const pages = walk.running.filter(({ isPage }) => isPage);
  if (pages.length > 0) walk.env = { ...walk.env, PORT: new URL(walk.server.url).port };
  for (const running of walk.running) if (!running.isPage) await running.stop();
  walk.running = pages;
}

/** In a group of its own, as a terminal starts it. */
function start({ cwd, env, server }, command) {
  const here = atServer(command, server);
  const token = server?.authorization?.replace('Bearer ', '') ?? '';
  const child = spawn('sh', ['-c', here], {
    ...{ cwd, env: { ...env, TOKEN: token }, detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
  });
  let [text, errors] = ['', ''];
  child.stdout.on('data', (data) => (text += data));
  child.stderr.on('data', (data) => (errors += data));
  const over = new Promise((resolve) => child.once('close', resolve));
  const kill = () => {
    try {
      process.kill(-child.pid, 'SIGTERM');
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
  };
  const late = setTimeout(kill, PATIENCE_MS);
  void over.then(() => clearTimeout(late));
  return {
    isPage: /npx vite$/.test(command),
    // Vite colours its address.
    text: () => text.replaceAll(/\u001b\[[\d;]*m/g, ''),
    isOver: () => child.exitCode !== null || child.signalCode !== null,
    async ended(expected) {
      const code = await over;
      if (code !== expected)
        throw new Error(`${command} ended with ${code}:\n${text}${errors.slice(-4_000)}`);
    },
    said: () => `${text}${errors.slice(-4_000)}`,
    stop() {
      clearTimeout(late);
      kill();
      return over;
    },
  };
}

/** Until it has printed that, doing something again and again so that it can. */
async function until(running, pattern, doing = () => null) {
  while (!pattern.test(running.text())) {
    if (running.isOver()) throw new Error(`It ended before it printed ${pattern}:\n${running.said()}`);
    await doing();
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function ask({ server }, query, variables = {}) {
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { authorization: server.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  return response.json();
}

/** With the id of the action that was published last, where it wants one. */
async function askAs(walk, query) {
  const variables = query.includes('$id') ? { id: walk.actionId } : {};
  const answer = await ask(walk, query, variables);
  if (answer.errors !== undefined)
    throw new Error(`The server answers ${JSON.stringify(answer)} to ${query}`);
  walk.actionId = answer.data.publishAction?.action.id ?? walk.actionId;
  if (query.startsWith('mutation') && variables.id === undefined) walk.mutation = query;
  walk.asked = { query, variables };
}

/** The feed comes a moment after what is published. */
async function expectAnswer(walk, shown) {
  const { query, variables } = walk.asked;
  const ends = performance.now() + PATIENCE_MS;
  for (;;) {
    const answer = await ask(walk, query, variables);
    if (isDeepStrictEqual(lasting(answer), lasting(shown))) return;
    if (performance.now() > ends)
      throw new Error(
        `The server answers ${JSON.stringify(answer)}, the page shows ${JSON.stringify(shown)}`,
      );
  }
}

function lasting(answer) {
  return JSON.parse(
    JSON.stringify(answer, (key, value) =>
      OF_THE_MOMENT.has(key) && typeof value === 'string' ? '…' : value,
    ),
  );
}
