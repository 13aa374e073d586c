import { getHeapCodeStatistics } from 'node:v8';
import { answer } from './answer.ts';

/** Of one process, in bytes. */
export interface Memory {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  /** What of the heap is code of functions, as bytecode or compiled for the machine, and what belongs to it. */
  readonly code: number;
}

/** What every child answers to, whatever else it does. It is loaded before the program itself. */
export interface ProbeApi {
  readonly [name: string]: (argument: never) => unknown;
  /** After full collections of garbage. */
  readonly memory: (argument: null) => Promise<Memory>;
  /** After collections of garbage; resident: the least of the next moments. For a process at work. */
  readonly memoryAtWork: (argument: null) => Promise<Memory>;
  /** Microseconds of CPU since the start. */
  readonly cpu: (argument: null) => number;
}

const MOST_TURNS = 20;
const TURNS_AT_WORK = 8;
const SETTLED_BYTES = 64 * 1_024;
const TURN_MS = 100;

async function collected(): Promise<Memory> {
  if (globalThis.gc === undefined) throw new Error('The process was started without --expose-gc');
  globalThis.gc();
  await new Promise((resolve) => setTimeout(resolve, TURN_MS));
  globalThis.gc();
  const { rss, heapUsed, external } = process.memoryUsage();
  const { code_and_metadata_size, bytecode_and_metadata_size } = getHeapCodeStatistics();
  return { rss, heapUsed, external, code: code_and_metadata_size + bytecode_and_metadata_size };
}

const api: ProbeApi = {
  memory: async () => {
    let last = await collected();
    // The system gets pages back some time after they are free: what is measured is what stays.
    for (let turn = 0; turn < MOST_TURNS; turn++) {
      const next = await collected();
      const isSettled = Math.abs(next.rss - last.rss) < SETTLED_BYTES;
      last = next;
      if (isSettled) break;
    }
    return last;
  },
  memoryAtWork: async () => {
    const { rss, ...inUse } = await collected();
    // A process at work never rests, but between two pieces of work it holds least.
    let least = rss;
    for (let turn = 0; turn < TURNS_AT_WORK; turn++) {
      await new Promise((resolve) => setTimeout(resolve, TURN_MS));
      least = Math.min(least, process.memoryUsage.rss());
    }
    return { rss: least, ...inUse };
  },
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
};
answer(api);
