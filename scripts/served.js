/** A server as somebody starts it: a command that prints where it is and a token. */
import { spawn } from 'node:child_process';

const READY_WITHIN_MS = 240_000;

/**
 * @param options cwd, env
 * @param work is given a function that asks the server's API, and where and with what token
 * @returns what `work` does; the server has ended by then, with all that it started
 */
export async function served(command, args, options, work) {
  const server = spawn(command, args, {
    ...options,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const ended = new Promise((resolve) => server.once('close', resolve));
  try {
    const text = await ready(server);
    const [url] = /http:\/\/\S+\/graphql/.exec(text);
    const [authorization] = /Bearer \S+/.exec(text);
    const ask = async (query) => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      });
      return response.json();
    };
    return await work(ask, { url, token: authorization.replace('Bearer ', '') });
  } finally {
    // It may have failed to start.
    if (server.exitCode === null && server.pid !== undefined) process.kill(-server.pid, 'SIGTERM');
    await ended;
  }
}

/** What it prints until it has printed its token. */
function ready(server) {
  return new Promise((resolve, reject) => {
    let text = '';
    const late = setTimeout(() => reject(new Error(`Not ready in time:\n${text}`)), READY_WITHIN_MS);
    server.stdout.on('data', (data) => {
      text += data;
      if (!/Bearer \S+\s/.test(text)) return;
      clearTimeout(late);
      resolve(text);
    });
    server.once('exit', (code) => {
      clearTimeout(late);
      reject(new Error(`The server ended with ${code}:\n${text}`));
    });
  });
}
