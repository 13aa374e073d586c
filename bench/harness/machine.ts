import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { PROJECT } from './child.ts';
import type { Environment } from './environment.ts';

/** Where and of what something was measured. */
export type Provenance = Awaited<ReturnType<typeof provenance>>;

/**
 * Cores at work for other processes, over a second before the work begins. The load average of the system would have what
 * a part before it has done too.
 */
export async function loadBefore(): Promise<number> {
  const [from, ownFrom, at] = [busyMs(), process.cpuUsage(), performance.now()];
  await setTimeout(1_000);
  const own = process.cpuUsage(ownFrom);
  const others = busyMs() - from - (own.user + own.system) / 1_000;
  return Math.max(0, others / (performance.now() - at));
}

/** Milliseconds that all cores have been at work, for whomever, since the system began. */
export function busyMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
}

export async function provenance(environment: Environment, load: number) {
  const processors = cpus();
  return {
    measuredAt: new Date().toISOString(),
    commit: git('rev-parse', '--short=12', 'HEAD'),
    /** Files that differ from the commit. */
    changedFiles: git('status', '--porcelain').split('\n').filter(Boolean).length,
    machine: {
      cpu: processors[0]?.model.trim() ?? 'unknown',
      cores: processors.length,
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      kernel: release(),
      /** Cores at work for other processes in the second before: above 0.5 somebody else was at work. */
      loadBefore: load,
    },
    versions: {
      node: process.version,
      engine: await environment.engineVersion(),
      redis: await environment.redisVersion(),
      ...Object.fromEntries(
        ['mongodb', 'ioredis', 'graphql', 'graphql-yoga', 'graphql-ws', 'ws'].map(version),
      ),
      peer: versionIn(`${PROJECT}/bench/peer/node_modules/mongodb-activity-feed/package.json`),
    },
    durability: await environment.durability(),
  };
}

function git(...args: readonly string[]): string {
  try {
    return execFileSync('git', args, {
      cwd: PROJECT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    // A copy without its history is measured all the same.
    return '';
  }
}

function version(name: string): [string, string] {
  return [name, versionIn(`${PROJECT}/node_modules/${name}/package.json`)];
}

function versionIn(path: string): string {
  const description: unknown = JSON.parse(readFileSync(path, 'utf8'));
  const found =
    typeof description === 'object' && description !== null && 'version' in description
      ? description.version
      : undefined;
  return typeof found === 'string' ? found : 'unknown';
}
