import type { Bundle } from './bundle.ts';
import type { Problem } from './checks.ts';
import type { Plan } from './plan.ts';
import { simulate } from './simulate.ts';

/** More would take minutes. */
const MOST_TRIES = 150;

/** The smallest plan that could be found that breaks the same promise. */
export async function shrunk(
  plan: Plan,
  promise: Problem['promise'],
  sources: Bundle,
): Promise<{ readonly plan: Plan; readonly tries: number }> {
  let best = plan;
  let tries = 0;
  const isStill = async (smaller: Plan): Promise<boolean> => {
    if (tries >= MOST_TRIES) return false;
    tries += 1;
    const { problems } = await simulate(smaller, sources);
    const isBroken = problems.some((problem) => problem.promise === promise);
    if (isBroken) best = smaller;
    return isBroken;
  };
  for (let size = -1; size !== sizeOf(best) && tries < MOST_TRIES;) {
    size = sizeOf(best);
    for (const smaller of simpler(best)) if (await isStill(smaller)) break;
    await withoutSome(
      () => best.phases.flatMap((phase, at) => phase.operations.map((_, n) => [at, n] as const)),
      (left) => isStill(withOperations(best, left)),
    );
    await withoutSome(
      () => [...best.faults],
      (faults) => isStill({ ...best, faults }),
    );
  }
  return { plan: best, tries };
}

function sizeOf({ phases, faults, processes, members }: Plan): number {
  return phases.flatMap(({ operations }) => operations).length + faults.length + processes.length + members;
}

/** Plans with less around what is done. */
function simpler(plan: Plan): Plan[] {
  const { processes, phases, members, slowOneIn } = plan;
  return [
    ...phases.map((_, at) => ({ ...plan, phases: phases.filter((_phase, n) => n !== at) })),
    ...processes.flatMap((_, at) => {
      const left = processes.filter((_kind, n) => n !== at);
      const isWhole = left.some((kind) => kind !== 'worker') && left.some((kind) => kind !== 'api');
      return isWhole ? [{ ...plan, processes: left }] : [];
    }),
    ...(members > 2 ? [{ ...plan, members: members - 1 }] : []),
    ...(slowOneIn > 0 ? [{ ...plan, slowOneIn: 0 }] : []),
  ];
}

type Place = readonly [phase: number, operation: number];

function withOperations(plan: Plan, left: readonly Place[]): Plan {
  const kept = new Set(left.map(([phase, operation]) => `${String(phase)} ${String(operation)}`));
  const phases = plan.phases.map(({ operations }, at) => ({
    operations: operations.filter((_, n) => kept.has(`${String(at)} ${String(n)}`)),
  }));
  return { ...plan, phases };
}

/** Leaves out halves, then quarters, down to single ones, as long as that still does it. */
async function withoutSome<T>(
  all: () => readonly T[],
  isStill: (left: readonly T[]) => Promise<boolean>,
): Promise<void> {
  for (let size = Math.ceil(all().length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < all().length;) {
      const items = all();
      const isLess = await isStill([...items.slice(0, from), ...items.slice(from + size)]);
      if (!isLess) from += size;
    }
}
