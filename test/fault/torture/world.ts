import { Closer } from '../../../src/lib/closer.ts';
import { startRedisProcess } from '../../integration/realtime/redis-process.ts';
import { startTcpProxy, type TcpProxy } from '../../integration/realtime/tcp-proxy.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { clientOf } from '../../support/client-watches.ts';
import { startFanfare, type FanfareProcess } from '../../support/processes.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import { openMirror, type Mirror } from '../../support/mirror.ts';

/** How much there is of everything. */
export interface WorldSize {
  readonly apiProcesses: number;
  readonly workers: number;
  readonly readers: number;
  readonly clients: number;
  /** Each has its share of the clients. */
  readonly wires: number;
  readonly actors: number;
}

/** A Redis that dies, or a part of one, and comes back. */
export interface MortalRedis extends AsyncDisposable {
  readonly url: string;
  kill(): Promise<void>;
  restart(): Promise<void>;
}

const FOLLOWS_PER_READER = 6;
/** Whom everybody follows. */
export const HERALD = 'herald';

export interface World extends AsyncDisposable {
  /** Neither API nor worker: where deeds are done. */
  readonly app: TestApp;
  readonly redis: MortalRedis;
  readonly readers: readonly string[];
  readonly actors: readonly string[];
  readonly mirrors: readonly Mirror[];
  /** Between clients and API processes; every connection leads to a process picked by chance. */
  readonly wires: readonly TcpProxy[];
  /** Of a process that answers now. */
  apiUrl(): string;
  /** Ends an API process, unless it is the last one, or a worker, and starts another one in its place. */
  replace(kind: 'api' | 'worker', signal: NodeJS.Signals): void;
  /** Resolves when all that were ended have been replaced. */
  isWhole(): Promise<void>;
  /** Whether a worker was ended: a rebuild that this cuts off has the reader's watchers query the feed. */
  hasEndedWorker(): boolean;
  /** Whether a process could not write or read the live log, as when Redis is too slow for it: watchers must resync then. */
  hadLiveLogTrouble(): boolean;
}

interface Slot {
  process: FanfareProcess;
  /** Null for workers. */
  url: string | null;
  isEnded: boolean;
}

export interface WorldOptions {
  readonly model: string;
  readonly size: WorldSize;
  /** Default: one process. */
  readonly startRedis?: () => Promise<MortalRedis>;
}

export async function openWorld(random: SeededRandom, options: WorldOptions): Promise<World> {
  const closer = new Closer();
  try {
    return await open(random, closer, options);
  } catch (error) {
    await closer.close();
    throw error;
  }
}

async function open(
  random: SeededRandom,
  closer: Closer,
  { model, size, startRedis = startRedisProcess }: WorldOptions,
): Promise<World> {
  const redis = closer.own(await startRedis());
  const app = closer.own(
    await startTestApp({
      api: false,
      worker: false,
      env: {
        ...{ REDIS_URL: redis.url, FAN_OUT_LEASE: '1s', POLL_INTERVAL: '100ms', FAN_OUT_CHUNK: '5' },
        ...{ FEED_MODEL: model, FEED_CAP: '50' },
      },
    }),
  );
  const readers = Array.from({ length: size.readers }, (_, n) => `reader-${String(n)}`);
  const actors = Array.from({ length: size.actors }, (_, n) => `actor-${String(n)}`);
  await app.services.followMany(
    app.identity('importer', 'service'),
    readers.flatMap((followerId, n) =>
      [HERALD, ...Array.from({ length: FOLLOWS_PER_READER }, (_, k) => actorOf(actors, n * 5 + k * 7))].map(
        (refId) => ({ followerId, refId }),
      ),
    ),
  );
  const slots = { api: [] as Slot[], worker: [] as Slot[] };
  const everStarted: FanfareProcess[] = [];
  const start = async (kind: 'api' | 'worker'): Promise<Slot> => {
    const args = kind === 'api' ? ['serve', '--no-worker'] : ['worker'];
    const process = startFanfare(args, { ...app.env, PORT: '0' });
    everStarted.push(process);
    if (kind === 'worker') {
      await process.logged((line) => line['msg'] === 'Fan-out worker started');
      return { process, url: null, isEnded: false };
    }
    const line = await process.logged((entry) => typeof entry['url'] === 'string');
    return { process, url: String(line['url']), isEnded: false };
  };
  closer.own({
    async [Symbol.asyncDispose]() {
      await whole();
      await Promise.all([...slots.api, ...slots.worker].map(({ process }) => process[Symbol.asyncDispose]()));
    },
  });
  /** As whatever looks after processes does: one that is started while Redis is away ends at once. */
  const startAgain = async (kind: 'api' | 'worker'): Promise<Slot> => {
    for (;;) {
      try {
        return await start(kind);
      } catch (error) {
        if (!String(error).includes('Cannot connect to Redis')) throw error;
      }
    }
  };
  const replacements = new Set<Promise<void>>();
  let hasEndedWorker = false;
  const whole = async (): Promise<void> => {
    while (replacements.size > 0) await Promise.all(replacements);
  };
  await Promise.all([
    ...Array.from({ length: size.apiProcesses }, async () => slots.api.push(await start('api'))),
    ...Array.from({ length: size.workers }, async () => slots.worker.push(await start('worker'))),
  ]);
  const living = (kind: 'api' | 'worker'): Slot[] => slots[kind].filter(({ isEnded }) => !isEnded);
  const apiUrl = (): string => random.pick(living('api')).url ?? '';
  const wires: TcpProxy[] = [];
  for (let n = 0; n < size.wires; n += 1) wires.push(closer.own(await startTcpProxy(apiUrl)));
  const mirrors: Mirror[] = [];
  for (let n = 0; n < size.clients; n += 1) {
    const reader = actorOf(readers, n);
    const url = `http://127.0.0.1:${String(wires[n % size.wires]?.port)}`;
    const transport = n % 2 === 0 ? 'websocket' : 'sse';
    const client = await clientOf({ token: app.token, url }, reader, { transport });
    mirrors.push(
      closer.own(
        openMirror(client, reader, {
          unread: n % 4 < 2 && n < size.clients / 2,
          ...(n % 10 === 9 ? { filter: { unreadOnly: true } } : {}),
        }),
      ),
    );
  }
  return {
    ...{ app, redis, readers, actors, mirrors, wires, apiUrl, isWhole: whole },
    hadLiveLogTrouble: () =>
      [
        ...everStarted.flatMap(({ log }) => log),
        ...app.log.map((line) => JSON.parse(line) as { msg: string }),
      ].some(({ msg }) => msg === 'The live log failed'),
    hasEndedWorker: () => hasEndedWorker,
    replace(kind, signal) {
      const candidates = living(kind);
      if (candidates.length < (kind === 'api' ? 2 : 1)) return;
      const slot = random.pick(candidates);
      slot.isEnded = true;
      hasEndedWorker ||= kind === 'worker';
      slot.process.kill(signal);
      const replacing = slot.process
        .exited()
        .then(() => startAgain(kind))
        .then((next) => {
          Object.assign(slot, next);
        })
        .finally(() => replacements.delete(replacing));
      replacements.add(replacing);
    },
    [Symbol.asyncDispose]: () => closer.close(),
  };
}

function actorOf(names: readonly string[], n: number): string {
  return names[n % names.length] ?? '';
}
