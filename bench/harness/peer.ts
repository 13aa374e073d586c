import type { PeerApi } from '../peer/publisher.ts';
import type { PeerSettings } from '../peer/manager.ts';
import type { PeerWorkerApi } from '../peer/worker.ts';
import type { ProbeApi } from '../programs/probe.ts';
import type { Closer } from '../../src/lib/closer.ts';
import { startChild, type Child } from './child.ts';
import type { PartContext } from './part.ts';
import { untilDone } from './statistics.ts';

/** The peer's processes, as in its own benchmark: a publisher, two workers and a socket server. */
export interface Peer {
  readonly publisher: Child<PeerApi>;
  /**
   * Adds so many activities at once and waits until all their entries are stored. Milliseconds until the last follower had
   * them all at their socket. Where a socket never got something – the peer tells once,
   * and what a socket misses while it reconnects is gone – it is done over.
   */
  fanOut(work: PeerFanOut): Promise<number>;
  /** How often it had to be done over. */
  readonly missed: number;
}

export interface PeerFanOut {
  readonly activities: number;
  readonly bull: boolean;
  /** Entries of feeds that one activity leads to. */
  readonly entries: number;
}

const WORKERS = 2;
const ATTEMPTS = 4;

export async function startPeer(
  { environment, say }: PartContext,
  closer: Closer,
  database: string,
): Promise<Peer> {
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
  let [expected, missed] = [0, 0];
  return {
    publisher,
    async fanOut({ activities, bull, entries }) {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const milliseconds = await publisher.call('fanOut', { activities, bull });
        expected += activities * entries;
        await untilStored(publisher, expected);
        if (milliseconds !== null) return milliseconds;
        missed += 1;
        say('a socket of the peer never got something: done over');
      }
      throw new Error(`The peer's sockets missed something ${String(ATTEMPTS)} times in a row`);
    },
    get missed() {
      return missed;
    },
  };
}

/** Resolves when so many entries of feeds are stored. */
export async function untilStored(publisher: Child<PeerApi>, entries: number): Promise<void> {
  await untilDone('Entries of the peer', 100, async () => {
    const left = entries - (await publisher.call('stored', null));
    if (left < 0) throw new Error(`The peer has stored ${String(-left)} entries too many`);
    return left;
  });
}

/** What is said of the peer's sockets. */
export function missedBy(missed: number): string {
  return missed === 0
    ? 'The sockets of the peer missed nothing.'
    : `The peer was measured again ${String(missed)} times, since a socket never got what was stored for it.`;
}
