import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const SERVER = fileURLToPath(new URL('../processes/fixtures/measured-server.ts', import.meta.url));

/** What a server has to say of itself since it was last asked. */
export interface Measured {
  /** For how long its event loop was held at most, in milliseconds of CPU. */
  readonly longestMs: number;
  /** Log lines of the levels error and fatal. */
  readonly faults: readonly string[];
  readonly rssBytes: number;
}

/** A server in a process of its own, so that the CPU time of clients is not taken for its own. */
export interface MeasuredServer extends AsyncDisposable {
  readonly url: string;
  readonly wsUrl: string;
  measure(): Promise<Measured>;
}

export async function startMeasuredServer(env: Readonly<Record<string, string>>): Promise<MeasuredServer> {
  const child = fork(SERVER, {
    execArgv: ['--import', 'tsx'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
  });
  const exited = once(child, 'exit');
  const hello = await Promise.race([once(child, 'message'), exited]);
  const { url } = hello[0] as { url?: string };
  if (url === undefined) throw new Error(`The server has ended with ${String(hello[0])}`);
  return {
    url,
    wsUrl: `${url.replace(/^http/, 'ws')}/graphql`,
    async measure() {
      const answered = once(child, 'message');
      child.send('measure');
      const [measured] = (await Promise.race([
        answered,
        exited.then(() => Promise.reject(new Error('The server has ended'))),
      ])) as [Measured];
      return measured;
    },
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect();
      const overdue = setTimeout(() => child.kill('SIGKILL'), 20_000);
      await exited;
      clearTimeout(overdue);
    },
  };
}
