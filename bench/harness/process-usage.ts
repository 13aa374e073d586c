import { readdirSync, readFileSync } from 'node:fs';
import { now } from './statistics.ts';

/** What the processes of one kind use together. */
export interface Usage {
  /** Seconds of CPU since they began. */
  readonly cpuSeconds: number;
  /** Resident memory; what several processes share is counted once, in parts. */
  readonly memoryMiB: number;
}

/** What the processes of one kind used over a while. */
export interface UsageOverTime {
  readonly kind: string;
  /** Cores in use, on average. */
  readonly cores: number;
  readonly meanMiB: number;
  readonly mostMiB: number;
}

/** Clock ticks a second, as Linux has them on all machines this runs on. */
const TICKS = 100;
const SAMPLE_MS = 2_000;
const OTHER = 'other';

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  readonly cpuSeconds: number;
}

/** Watches what everything that descends from this process uses, until it is asked for the outcome. */
export function watchUsage(kinds: ReadonlyMap<number, string>): { stop(): readonly UsageOverTime[] } {
  const startedAt = now();
  const first = usageByKind(kinds);
  const samples = [first];
  const timer = setInterval(() => samples.push(usageByKind(kinds)), SAMPLE_MS);
  return {
    stop: () => {
      clearInterval(timer);
      const last = usageByKind(kinds);
      samples.push(last);
      const seconds = (now() - startedAt) / 1_000;
      return [...last].map(([kind, { cpuSeconds }]) => {
        const memory = samples.flatMap((sample) => sample.get(kind)?.memoryMiB ?? []);
        return {
          kind,
          cores: (cpuSeconds - (first.get(kind)?.cpuSeconds ?? 0)) / seconds,
          meanMiB: memory.reduce((sum, value) => sum + value, 0) / memory.length,
          mostMiB: Math.max(...memory),
        };
      });
    },
  };
}

/** CPU and memory of everything that descends from this process, by kind: engine, gateway, redis, and the given ones. */
function usageByKind(kinds: ReadonlyMap<number, string>): ReadonlyMap<string, Usage> {
  const sums = new Map<string, Usage>();
  for (const { kind, pid, cpuSeconds } of descendantsOf(kinds)) {
    const sum = sums.get(kind) ?? { cpuSeconds: 0, memoryMiB: 0 };
    sums.set(kind, {
      cpuSeconds: sum.cpuSeconds + cpuSeconds,
      memoryMiB: sum.memoryMiB + memoryOf(pid),
    });
  }
  return sums;
}

/**
 * Seconds of CPU since they began, with those of the processes that they started and that have ended, as the database starts
 * some every few seconds. The memory, which takes longer to read, is left out.
 */
export function cpuByKind(kinds: ReadonlyMap<number, string>): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { kind, cpuSeconds } of descendantsOf(kinds)) sums.set(kind, (sums.get(kind) ?? 0) + cpuSeconds);
  return sums;
}

/** What it starts in turn is of the same kind, as the processes of `--processes` are. */
export function descendantsOf(kinds: ReadonlyMap<number, string>): (Process & { readonly kind: string })[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)));
  const ours = new Set([process.pid]);
  for (let before = 0; before !== ours.size;) {
    before = ours.size;
    for (const { pid, parent } of all) if (ours.has(parent)) ours.add(pid);
  }
  const parents = new Map(all.map(({ pid, parent }) => [pid, parent]));
  const inherited = (pid: number): string | undefined => {
    const parent = parents.get(pid);
    // Everything here descends from this process.
    if (parent === undefined || parent === process.pid) return undefined;
    return kinds.get(parent) ?? inherited(parent);
  };
  return all
    .filter(({ pid }) => ours.has(pid))
    .map((found) => {
      const kind = kinds.get(found.pid) ?? kindOf(found.command);
      return { ...found, kind: kind === OTHER ? (inherited(found.pid) ?? OTHER) : kind };
    });
}

function kindOf(command: string): string {
  if (command.includes('local-engine/dist/gateway')) return 'gateway';
  if (command.includes('local-engine/dist/keeper')) return 'keeper';
  if (/valkey|redis/.test(command)) return 'redis';
  if (/postgres|mongod/.test(command)) return 'engine';
  return OTHER;
}

function readProcess(pid: number): Process[] {
  const stat = readOfProcess(pid, 'stat');
  const command = readOfProcess(pid, 'cmdline');
  if (stat === null || command === null) return [];
  // The name in parentheses may hold anything; the numbers begin behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const at = (index: number): number => Number(fields[index] ?? NaN);
  return [
    {
      pid,
      parent: at(1),
      command: command.replaceAll('\0', ' '),
      // Of itself and of its children that have ended: else what they used would be missing in a later sum.
      cpuSeconds: (at(11) + at(12) + at(13) + at(14)) / TICKS,
    },
  ];
}

/** Its share of the pages in memory, in MiB. */
function memoryOf(pid: number): number {
  const [, kib = '0'] = /^Pss: +(\d+) kB/m.exec(readOfProcess(pid, 'smaps_rollup') ?? '') ?? [];
  return Number(kib) / 1_024;
}

/** Null when it has ended meanwhile. */
function readOfProcess(pid: number, name: string): string | null {
  try {
    return readFileSync(`/proc/${String(pid)}/${name}`, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return null;
    throw error;
  }
}
