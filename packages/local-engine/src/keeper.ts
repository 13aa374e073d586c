/**
 * The process that owns the embedded services. It runs in a session of its own, so a Ctrl-C in the terminal does not
 * reach the databases before the server has finished with them; and it ends when its channel to the server closes,
 * which happens however the server dies, unless other processes have joined. Argument: the folder for its record.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { RECORD_FILE } from './keeper-messages.ts';
import type { FromKeeper, KeeperRecord, ServiceSpec, ToKeeper } from './keeper-messages.ts';
import { KeptProcess } from './kept-process.ts';
import { hasMembers } from './members.ts';
import { ownIdentity } from './process/identity.ts';
import { logLine } from './process/log-line.ts';
import { writeOwnFile } from './process/own-file.ts';
import { removeShortPath } from './process/short-path.ts';
import {
  forgetRunningServices,
  restoreRunningServices,
  withdrawRunningServices,
} from './running-services.ts';

const folder = process.argv[2] ?? process.cwd();
/** In order of their start: they are stopped in the opposite order, what depends on another one first. */
const running = new Map<string, KeptProcess>();
let leaving = false;
let ending = false;
const ASK_MEMBERS_EVERY_MS = 500;

process.on('message', (message) => {
  handle(message as ToKeeper);
});
process.on('disconnect', () => void leave());
// Signals are the server's business; it decides when its databases are no longer needed.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
writeRecord();
tell({ type: 'up' });

function handle(message: ToKeeper): void {
  if (message.type === 'start') start(message.spec);
  else if (message.type === 'stop') void running.get(message.name)?.stop();
  else if (message.type === 'signal') running.get(message.name)?.signal(message.signal);
  else if (message.type === 'keep') running.get(message.name)?.keepRunning();
  else void leave();
}

function start(spec: ServiceSpec): void {
  const { name } = spec;
  const refused = (reason: string) => {
    tell({ type: 'refused', name, reason });
  };
  if (ending || running.has(name)) {
    refused(ending ? 'the keeper is ending' : 'it runs already');
    return;
  }
  const kept = new KeptProcess(spec, {
    refused,
    started(pid) {
      writeRecord();
      tell({ type: 'started', name, pid });
    },
    line(line) {
      tell({ type: 'line', name, line });
    },
    down(exit, pauseMs) {
      writeRecord();
      tell({ type: 'down', name, exit, pauseMs });
    },
    restarted(pid) {
      writeRecord();
      tell({ type: 'restarted', name, pid });
    },
    failed(reason) {
      logLine(`Cannot look after ${name}: ${reasonOf(reason)}`);
    },
    exited(exit) {
      running.delete(name);
      writeRecord();
      tell({ type: 'exited', name, exit });
    },
  });
  running.set(name, kept);
  void kept.over.then(() => {
    if (running.get(name) === kept) running.delete(name);
  });
  kept.start();
}

/** The server is gone or done. What others joined goes on until the last of them is gone, too. */
async function leave(): Promise<void> {
  if (leaving) return;
  leaving = true;
  while (!isLastToLeave()) {
    tell({ type: 'shared' });
    await delay(ASK_MEMBERS_EVERY_MS);
  }
  await end();
}

function isLastToLeave(): boolean {
  if (hasMembers(folder)) return false;
  withdrawRunningServices(folder);
  if (!hasMembers(folder)) return true;
  restoreRunningServices(folder);
  return false;
}

async function end(): Promise<void> {
  ending = true;
  for (const kept of [...running.values()].reverse()) await kept.stop();
  forgetRunningServices(folder);
  removeShortPath(folder);
  rmSync(join(folder, RECORD_FILE), { force: true });
  process.exit(0);
}

function writeRecord(): void {
  const record: KeeperRecord = {
    keeper: ownIdentity(),
    services: [...running.values()].flatMap(({ service }) => service ?? []),
  };
  try {
    writeOwnFile(join(folder, RECORD_FILE), JSON.stringify(record));
  } catch (error) {
    // The folder may be deleted, or its disk be full; the services must still be stopped in order.
    logLine(`Cannot write the record of the embedded services: ${reasonOf(error)}`);
  }
}

function tell(message: FromKeeper): void {
  // Nobody listens once the server is dead, and then nobody needs to know.
  if (process.connected) process.send?.(message, () => undefined);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
