import { readdirSync, readFileSync } from 'node:fs';

/** What the processes of one kind use together. */
export interface Usage {
  /** Seconds of CPU since they began. */
  readonly cpuSeconds: number;
  readonly rssMiB: number;
}

/** Clock ticks a second and bytes a page, as Linux has them on all machines this runs on. */
const TICKS = 100;
const PAGE_MIB = 4_096 / 2 ** 20;

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  readonly usage: Usage;
}

/**
 * CPU and memory of everything that descends from this process, by kind: engine, gateway, redis, api, worker, client.
 * Memory that processes share counts for each of them.
 */
export function usageByKind(kinds: ReadonlyMap<number, string>): ReadonlyMap<string, Usage> {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)));
  const ours = new Set([process.pid]);
  for (let before = 0; before !== ours.size;) {
    before = ours.size;
    for (const { pid, parent } of all) if (ours.has(parent)) ours.add(pid);
  }
  const sums = new Map<string, Usage>();
  for (const { pid, command, usage } of all) {
    if (!ours.has(pid)) continue;
    const kind = kinds.get(pid) ?? (pid === process.pid ? 'bench' : kindOf(command));
    const sum = sums.get(kind) ?? { cpuSeconds: 0, rssMiB: 0 };
    sums.set(kind, { cpuSeconds: sum.cpuSeconds + usage.cpuSeconds, rssMiB: sum.rssMiB + usage.rssMiB });
  }
  return sums;
}

function kindOf(command: string): string {
  if (command.includes('embedded/gateway')) return 'gateway';
  if (command.includes('embedded/keeper')) return 'keeper';
  if (/valkey|redis/.test(command)) return 'redis';
  if (/postgres|mongod/.test(command)) return 'engine';
  return 'other';
}

function readProcess(pid: number): Process[] {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    const command = readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8').replaceAll('\0', ' ');
    // The name in parentheses may hold anything; the numbers begin behind it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const at = (index: number): number => Number(fields[index] ?? NaN);
    return [
      {
        pid,
        parent: at(1),
        command,
        usage: { cpuSeconds: (at(11) + at(12)) / TICKS, rssMiB: at(21) * PAGE_MIB },
      },
    ];
  } catch (error) {
    // It ended while the list was read.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return [];
    throw error;
  }
}
