import { answer } from './answer.ts';

/** What every child answers to, whatever else it does. It is loaded before the program itself. */
export interface ProbeApi {
  readonly [name: string]: (argument: never) => unknown;
  /** Microseconds of CPU since the start. */
  readonly cpu: (argument: null) => number;
  /** Bytes of memory that the process has. */
  readonly memory: (argument: null) => number;
}

const api: ProbeApi = {
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  memory: () => process.memoryUsage.rss(),
};
answer(api);
