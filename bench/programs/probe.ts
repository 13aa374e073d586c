import { answer } from './answer.ts';

/** What every child answers to, whatever else it does. It is loaded before the program itself. */
export interface ProbeApi {
  readonly [name: string]: (argument: never) => unknown;
  /** Bytes after a full collection of garbage. */
  readonly memory: (argument: null) => { readonly rss: number; readonly heapUsed: number; readonly external: number };
  /** Microseconds of CPU since the start. */
  readonly cpu: (argument: null) => number;
}

const api: ProbeApi = {
  memory: () => {
    if (globalThis.gc === undefined) throw new Error('The process was started without --expose-gc');
    void globalThis.gc();
    void globalThis.gc();
    const { rss, heapUsed, external } = process.memoryUsage();
    return { rss, heapUsed, external };
  },
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
};
answer(api);
