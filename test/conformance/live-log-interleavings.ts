import { describe, expect, it } from 'vitest';
import type { LiveLog } from '../../src/live/live-log.ts';
import { entry, eventually, label } from './live-log-tools.ts';
import type { MakeLiveLog } from './live-log-fixture.ts';
import { fc } from '../support/fast-check.ts';
import { repeats } from '../support/seed.ts';

const READERS = ['ann', 'bob'] as const;
type Reader = (typeof READERS)[number];

type Step =
  | { readonly do: 'append'; readonly readers: readonly Reader[] }
  | { readonly do: 'open'; readonly reader: Reader }
  | { readonly do: 'cut'; readonly client: number }
  | { readonly do: 'breathe' }
  | { readonly do: 'ask' };

const reader = fc.constantFrom(...READERS);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('append'), readers: fc.array(reader, { maxLength: 8 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('open'), reader }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('cut'), client: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('breathe') }) },
  // One round trip: as long as the steps of an opening take.
  { weight: 2, arbitrary: fc.record({ do: fc.constant('ask') }) },
);

/** Follows a reader for ever: cut off, it opens again where it was. */
class Client {
  readonly reader: Reader;
  readonly seen: (number | string)[] = [];
  readonly running: Promise<void>;
  /** Events of the reader whose append began before the first stream was open: it need not see them. */
  mayMiss = Number.POSITIVE_INFINITY;
  readonly #log: LiveLog;
  #cursor: string | undefined;
  #connection = new AbortController();
  #stopped = false;

  constructor(log: LiveLog, target: Reader, appended: () => number) {
    this.reader = target;
    this.#log = log;
    this.running = this.#run(appended);
  }

  cut(): void {
    this.#connection.abort();
  }

  stop(): void {
    this.#stopped = true;
    this.cut();
  }

  async #run(appended: () => number): Promise<void> {
    while (!this.#stopped) {
      this.#connection = new AbortController();
      const { signal } = this.#connection;
      const after = this.#cursor === undefined ? {} : { after: this.#cursor };
      const stream = await this.#log.watch({ userId: this.reader, signal, ...after });
      for await (const message of stream) {
        if (message.kind === 'ready') this.mayMiss = Math.min(this.mayMiss, appended());
        else this.seen.push(label(message));
        this.#cursor = message.cursor;
      }
    }
  }
}

export function liveLogInterleavings(makeLog: MakeLiveLog): void {
  describe('concurrent appends, watches and lost connections', () => {
    it('lose nothing and repeat nothing', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
          await using fixture = await makeLog();
          await play(fixture.log, steps);
        }),
        { numRuns: repeats(60) },
      );
    });
  });
}

async function play(log: LiveLog, steps: readonly Step[]): Promise<void> {
  const appended: Record<Reader, number[]> = { ann: [], bob: [] };
  const clients: Client[] = [];
  const appends: Promise<void>[] = [];
  const append = (readers: readonly Reader[]): void => {
    const batch = readers.map((target) => {
      const n = appended[target].length + 1;
      appended[target].push(n);
      return entry(target, n);
    });
    appends.push(log.append(batch));
  };
  for (const one of steps) {
    if (one.do === 'append') append(one.readers);
    else if (one.do === 'open') clients.push(new Client(log, one.reader, () => appended[one.reader].length));
    else if (one.do === 'cut') clients[one.client % Math.max(1, clients.length)]?.cut();
    else if (one.do === 'ask') await log.watched(READERS);
    else await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(appends);
  await eventually('every client is open', () => clients.every(({ mayMiss }) => Number.isFinite(mayMiss)));
  append(READERS);
  const last = (target: Reader): number => appended[target].length;
  await eventually('every client has the last event', () =>
    clients.every((c) => c.seen.at(-1) === last(c.reader)),
  );
  for (const client of clients) client.stop();
  await Promise.all(clients.map(({ running }) => running));
  for (const client of clients) {
    const start = Number(client.seen[0]);
    expect(client.seen).toEqual(appended[client.reader].slice(start - 1));
    expect(start).toBeLessThanOrEqual(client.mayMiss + 1);
  }
}
