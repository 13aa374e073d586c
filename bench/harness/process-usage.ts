import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks a second, as Linux has them on all machines this runs on. */
const TICKS = 100;

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  readonly cpuSeconds: number;
}

/**
 * Seconds of CPU of this process and of everything that descends from it, since they began, with those of the processes that
 * they started and that have ended, as the database starts some every few seconds. By kind: engine, gateway, redis, and the
 * given ones.
 */
export function cpuByKind(kinds: ReadonlyMap<number, string>): ReadonlyMap<string, number> {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)));
  const ours = new Set([process.pid]);
  for (let before = 0; before !== ours.size;) {
    before = ours.size;
    for (const { pid, parent } of all) if (ours.has(parent)) ours.add(pid);
  }
  const sums = new Map<string, number>();
  for (const { pid, command, cpuSeconds } of all) {
    if (!ours.has(pid)) continue;
    const kind = kinds.get(pid) ?? kindOf(command);
    sums.set(kind, (sums.get(kind) ?? 0) + cpuSeconds);
  }
  return sums;
}

function kindOf(command: string): string {
  if (command.includes('local-engine/dist/gateway')) return 'gateway';
  if (command.includes('local-engine/dist/keeper')) return 'keeper';
  if (/valkey|redis/.test(command)) return 'redis';
  if (/postgres|mongod/.test(command)) return 'engine';
  return 'other';
}

function readProcess(pid: number): Process[] {
  const stat = readOfProcess(pid, 'stat');
  const command = readOfProcess(pid, 'cmdline');
  if (stat === null || command === null) return [];
  // The name in parentheses may hold anything; the numbers begin behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const at = (index: number): number => Number(fields[index] ?? NaN);
  const threads = ifThere(() => readdirSync(`/proc/${String(pid)}/task`)) ?? [];
  // To the nanosecond, since a page takes less than a tick.
  const ran = threads.map((id) => Number(readOfProcess(pid, `task/${id}/schedstat`)?.split(' ')[0] ?? 0));
  const own = ran.reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e9;
  // Of its children that have ended as well: else what they used would be missing in a later sum.
  const cpuSeconds = own + (at(13) + at(14)) / TICKS;
  return [{ pid, parent: at(1), command: command.replaceAll('\0', ' '), cpuSeconds }];
}

const readOfProcess = (pid: number, name: string): string | null =>
  ifThere(() => readFileSync(`/proc/${String(pid)}/${name}`, 'utf8'));

/** Null when it has ended meanwhile. */
function ifThere<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return null;
    throw error;
  }
}
