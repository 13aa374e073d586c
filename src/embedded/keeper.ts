/**
 * The process that owns the embedded services. It runs in a session of its own, so a Ctrl-C in the terminal does not
 * reach the databases before the server has finished with them; and it ends when its channel to the server closes,
 * which happens however the server dies. Argument: the folder for its record.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { RECORD_FILE } from './keeper-messages.ts';
import type { FromKeeper, KeeperRecord, RunningService, ServiceSpec, ToKeeper } from './keeper-messages.ts';
import { identify, ownIdentity } from './process/identity.ts';

interface Kept {
  readonly spec: ServiceSpec;
  readonly child: ChildProcess;
  readonly service: RunningService;
  readonly exited: Promise<void>;
}

const folder = process.argv[2] ?? process.cwd();
/** In order of their start: they are stopped in the opposite order, what depends on another one first. */
const running = new Map<string, Kept>();
let ending = false;

process.on('message', (message) => {
  handle(message as ToKeeper);
});
process.on('disconnect', () => void end());
// Signals are the server's business; it decides when its databases are no longer needed.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
writeRecord();
tell({ type: 'up' });

function handle(message: ToKeeper): void {
  if (message.type === 'start') start(message.spec);
  else if (message.type === 'stop') void stop(message.name);
  else if (message.type === 'signal') running.get(message.name)?.child.kill(message.signal);
  else void end();
}

function start(spec: ServiceSpec): void {
  const refuse = (reason: string) => {
    tell({ type: 'refused', name: spec.name, reason });
  };
  if (ending || running.has(spec.name)) {
    refuse(ending ? 'the keeper is ending' : 'it runs already');
    return;
  }
  const log = openSync(spec.log, 'a', 0o600);
  let child: ChildProcess;
  try {
    child = spawn(spec.command, spec.args, {
      cwd: spec.cwd,
      env: spec.env,
      stdio: [spec.stopBy === 'eof' ? 'pipe' : 'ignore', spec.stdout === 'lines' ? 'pipe' : log, log],
    });
  } finally {
    closeSync(log);
  }
  child.once('error', (error) => {
    if (child.pid === undefined) refuse(error.message);
  });
  // A service may go before its input is closed; that is not a fault of the keeper.
  child.stdin?.on('error', () => undefined);
  const identity = child.pid === undefined ? null : identify(child.pid);
  if (child.pid === undefined) return;
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      running.delete(spec.name);
      writeRecord();
      tell({ type: 'exited', name: spec.name, exit: { code, signal } });
      resolve();
    });
  });
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      tell({ type: 'line', name: spec.name, line });
    });
  }
  const service = { name: spec.name, identity: identity ?? { pid: child.pid, started: 'ended' } };
  running.set(spec.name, { spec, child, service, exited });
  writeRecord();
  tell({ type: 'started', name: spec.name, pid: child.pid });
}

async function stop(name: string): Promise<void> {
  const kept = running.get(name);
  if (kept === undefined) return;
  const { child, spec, exited } = kept;
  const timer = setTimeout(() => child.kill('SIGKILL'), spec.stopWithinMs);
  if (spec.stopBy === 'eof') child.stdin?.end();
  else child.kill(spec.stopBy);
  // A stopped (SIGSTOP) process would not see the signal.
  child.kill('SIGCONT');
  await exited;
  clearTimeout(timer);
}

async function end(): Promise<void> {
  if (ending) return;
  ending = true;
  for (const name of [...running.keys()].reverse()) await stop(name);
  rmSync(join(folder, RECORD_FILE), { force: true });
  process.exit(0);
}

function writeRecord(): void {
  const record: KeeperRecord = {
    keeper: ownIdentity(),
    services: [...running.values()].map((kept) => kept.service),
  };
  const draft = join(folder, `${RECORD_FILE}.${process.pid}`);
  try {
    writeFileSync(draft, JSON.stringify(record), { mode: 0o600 });
    renameSync(draft, join(folder, RECORD_FILE));
  } catch (error) {
    // The folder may be deleted under a running server; the services must still be stopped in order.
    console.error('Cannot write the record of the embedded services:', error);
  }
}

function tell(message: FromKeeper): void {
  // Nobody listens once the server is dead, and then nobody needs to know.
  if (process.connected) process.send?.(message, () => undefined);
}
