import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { inject } from 'vitest';
import type { Vitest } from 'vitest/node';
import { allReasons } from './scattered.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A file to which each process of the run appends the reasons to ask all shards that its commands had. */
    usedReasons: string;
  }
}

/** Of the process: the files of a project share it, each with modules of its own. */
interface Noted {
  readonly all: Set<string>;
  /** Where they go instead, for a while. */
  aside: Set<string> | null;
}

const NOTED = Symbol.for('fanfare.used-reasons');

function noted(): Noted {
  const scope = globalThis as unknown as Record<symbol, Noted | undefined>;
  return (scope[NOTED] ??= { all: new Set(), aside: null });
}

/** Notes what is in use, each once in a process. */
export function noteReasons(reasons: readonly string[]): void {
  const { all, aside } = noted();
  for (const reason of reasons) {
    if (aside !== null || all.has(reason)) {
      aside?.add(reason);
      continue;
    }
    all.add(reason);
    appendFileSync(inject('usedReasons'), `${reason}\n`);
  }
}

/** What a test of the noting itself makes up is no use. @returns what would have been noted */
export async function notedAside(work: () => Promise<unknown>): Promise<readonly string[]> {
  const here = noted();
  const aside = new Set<string>();
  here.aside = aside;
  try {
    await work();
  } finally {
    here.aside = null;
  }
  return [...aside];
}

/** The reasons that nothing had which was noted in a file. */
export function unusedReasons(path: string): readonly string[] {
  const used = new Set(existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []);
  return allReasons().filter((reason) => !used.has(reason));
}

/** What uses every reason: the first tier. */
const TIER = ['unit', 'shared', 'alone'];

/** Whether all tests of the first tier ran, to their end: only then is what nothing had in use by nobody. */
export async function ranWhole(vitest: Vitest): Promise<boolean> {
  const { state } = vitest;
  if (vitest.getGlobalTestNamePattern() !== undefined || vitest.config.shard !== undefined) return false;
  if (state.getCountOfFailedTests() > 0) return false;
  const running = new Set(vitest.projects.map(({ name }) => name));
  if (!TIER.every((name) => running.has(name))) return false;
  return state.getFiles().length === (await vitest.globTestSpecifications()).length;
}
