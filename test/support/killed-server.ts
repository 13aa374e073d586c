import { startFanfare, type FanfareProcess } from './processes.ts';

/** A server, publications and webhooks in one process, that can be killed. */
export class KilledServer {
  readonly #env: Readonly<Record<string, string>>;
  #process: FanfareProcess;
  #url: Promise<string>;
  /** The kill under way, or the last one. */
  #replacing: Promise<void> = Promise.resolve();

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
    [this.#process, this.#url] = this.#start();
  }

  #start(): [FanfareProcess, Promise<string>] {
    const process = startFanfare(['serve'], { ...this.#env, PORT: '0' });
    const url = process.logged(({ msg }) => msg === 'Listening').then(({ url: at }) => String(at));
    // One that is killed before it listens has none. Who asks for it is notified.
    url.catch(() => undefined);
    return [process, url];
  }

  /** Of the server that is there, or of the one that takes its place. Rejects when one has ended unasked. */
  async url(): Promise<string> {
    for (;;) {
      const url = this.#url;
      try {
        return await url;
      } catch (error) {
        await this.#replacing;
        if (this.#url === url) throw error;
      }
    }
  }

  killAndReplace(): Promise<void> {
    this.#replacing = this.#replace();
    return this.#replacing;
  }

  async #replace(): Promise<void> {
    const killed = this.#process;
    killed.kill('SIGKILL');
    if ((await killed.exited()) !== null) throw new Error('The server had ended before it was killed');
    [this.#process, this.#url] = this.#start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
  }
}

/** Asks until there is an answer, as a client does that has a key for what it does. */
export async function ask<T>(
  server: KilledServer,
  token: string,
  query: string,
  variables: object,
): Promise<T> {
  for (;;) {
    const url = await server.url();
    try {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ query, variables }),
      });
      const answer = (await response.json()) as { data?: T | null; errors?: unknown };
      if (answer.data != null && answer.errors === undefined) return answer.data;
      throw new Error(`Refused: ${JSON.stringify(answer)}`);
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('Refused')) throw error;
      // It was killed. The next turn of the loop waits for the one in its place.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
