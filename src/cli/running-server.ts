import { join } from 'node:path';
import { recordProcess, findRecord, type ProcessRecord } from './process-record.ts';

export interface RunningServer {
  readonly url: string;
  /** For the user demo with all roles; `null` when the server cannot sign tokens. */
  readonly token: string | null;
}

const FILE = 'server.json';

/** Lets commands on the folder find the server. Of several servers with shared databases the first one is found. */
export async function announceServer(dataDir: string, server: RunningServer): Promise<AsyncDisposable> {
  if ((await findServer(dataDir)) === null) return recordProcess(join(dataDir, FILE), server);
  return { [Symbol.asyncDispose]: () => Promise.resolve() };
}

export function findServer(dataDir: string): Promise<ProcessRecord<RunningServer> | null> {
  return findRecord(join(dataDir, FILE));
}
