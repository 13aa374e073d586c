import type { PeerApi } from '../peer/publisher.ts';
import type { PeerSettings } from '../peer/manager.ts';
import type { PeerWorkerApi } from '../peer/worker.ts';
import type { ProbeApi } from '../programs/probe.ts';
import { Closer } from '../../src/lib/closer.ts';
import { startChild, type Child } from './child.ts';
import type { Environment } from './environment.ts';

/** The peer's processes, as in its own benchmark: a publisher, two workers and a socket server. */
export interface Peer extends AsyncDisposable {
  readonly publisher: Child<PeerApi>;
  /** Resolves when so many entries of feeds are stored. */
  drained(entries: number): Promise<void>;
}

const WORKERS = 2;
const GIVE_UP_MS = 10 * 60_000;

export async function startPeer(environment: Environment, database: string): Promise<Peer> {
  const closer = new Closer();
  try {
    const sockets = closer.own(
      startChild<ProbeApi>({ program: 'bench/peer/sockets.ts', args: [environment.redisUrl] }),
    );
    const [, socketUrl = ''] = await sockets.line(/Sockets (http:\/\/\S+)/);
    const settings: PeerSettings = {
      mongodbUri: environment.mongodbUri,
      redisUrl: environment.redisUrl,
      database,
      socketUrl,
    };
    // It prints a line for every query, which nobody shall have to read.
    const options = { args: [JSON.stringify(settings)], isMute: true };
    const publisher = closer.own(startChild<PeerApi>({ program: 'bench/peer/publisher.ts', ...options }));
    await publisher.call('stored', null);
    for (let worker = 0; worker < WORKERS; worker++) {
      const child = closer.own(startChild<PeerWorkerApi>({ program: 'bench/peer/worker.ts', ...options }));
      await child.call('ready', null);
    }
    return {
      publisher,
      drained: async (entries) => {
        const giveUp = Date.now() + GIVE_UP_MS;
        for (;;) {
          const stored = await publisher.call('stored', null);
          if (stored === entries) return;
          if (stored > entries || Date.now() > giveUp)
            throw new Error(`The peer has stored ${String(stored)} entries instead of ${String(entries)}`);
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      },
      [Symbol.asyncDispose]: () => closer.close(),
    };
  } catch (error) {
    await closer.close();
    throw error;
  }
}
