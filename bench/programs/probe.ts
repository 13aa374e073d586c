import { answer } from './answer.ts';

/** What every child answers to, whatever else it does. It is loaded before the program itself. */
export interface ProbeApi {
  readonly [name: string]: (argument: never) => unknown;
  /** Microseconds of CPU since the start. */
  readonly cpu: (argument: null) => number;
}

const api: ProbeApi = {
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
};
answer(api);
