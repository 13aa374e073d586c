import type { CommandContext } from '../app/command-shapes.ts';
import { join } from 'node:path';
import { makeFolder } from '../lib/own-file.ts';
import { configOf, recordProcess, findRecord } from './context.ts';

interface Beat {
  /** When the database last answered the worker, in milliseconds of a clock of the machine that nobody sets. */
  readonly at: number;
}

const FILE = 'worker.json';
const BEAT_EVERY_MS = 5_000;
/** Longer than the election of a new primary. */
const HEALTHY_WITHIN_MS = 60_000;

/** Records every five seconds that this worker works. @param onError called once when it cannot be written. */
export async function startHeartbeat(
  dataDir: string,
  ping: () => Promise<unknown>,
  onError: (error: unknown) => void,
): Promise<AsyncDisposable> {
  const path = join(dataDir, FILE);
  let record: AsyncDisposable | null = null;
  let hasFailed = false;
  const beat = async (): Promise<void> => {
    // While the database is away, the missing record says so.
    if (!(await ping().then(isDone, isNotDone))) return;
    const content: Beat = { at: elapsedMs() };
    record = await recordProcess(path, content);
  };
  const complain = (error: unknown): void => {
    if (!hasFailed) onError(error);
    hasFailed = true;
  };
  await makeFolder(dataDir).catch(complain);
  let beating = beat().catch(complain);
  const timer = setInterval(() => {
    beating = beating.then(beat).catch(complain);
  }, BEAT_EVERY_MS);
  timer.unref();
  await beating;
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await beating;
      await record?.[Symbol.asyncDispose]();
    },
  };
}

/** Alike in all processes of a machine, since it was started. */
function elapsedMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

const isDone = (): boolean => true;
const isNotDone = (): boolean => false;

/** Whether the worker on this DATA_DIR works. @returns the exit code. */
export async function workerHealth(context: CommandContext): Promise<number> {
  const { dataDir } = configOf(context, { needsKey: false });
  const beat = await findRecord<Beat>(join(dataDir, FILE));
  if (beat === null) {
    context.terminal.note(`No worker is running with DATA_DIR ${dataDir}`);
    return 1;
  }
  const age = elapsedMs() - beat.at;
  const who = `Worker ${String(beat.process.pid)}`;
  const seconds = `${String(Math.round(age / 1_000))} s ago`;
  const isHealthy = age < HEALTHY_WITHIN_MS;
  context.terminal.note(
    isHealthy
      ? `${who} works; its database answered ${seconds}`
      : `${who} does not work: its database last answered ${seconds}`,
  );
  return isHealthy ? 0 : 1;
}
