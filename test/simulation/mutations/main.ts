import { parseArgs } from 'node:util';
import { bundle } from '../bundle.ts';
import { planOf } from '../plan.ts';
import { simulate } from '../simulate.ts';
import { FAULTS, type Fault } from './table.ts';

// npm run -s mutations [-- <seeds>] [--tries <most seeds that are run>] [--only <words of its name>]

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', default: '' }, tries: { type: 'string' } },
});
const seeds = Number(positionals[0] ?? 500);
const tries = Number(values.tries ?? seeds);

const chosen = FAULTS.filter(({ of, name }) => `${of}: ${name}`.includes(values.only));
let found = 0;
for (const fault of chosen) {
  const how = await firstFound(fault);
  if (how !== null) found += 1;
  console.log(
    `${fault.of}: ${fault.name}\n    ${how ?? `not found by ${String(tries)} of ${String(seeds)} seeds`}`,
  );
}
console.log(`${String(found)} of ${String(chosen.length)} found`);

/** Seeds that do much of what may show it come first. */
async function firstFound(fault: Fault): Promise<string | null> {
  const sources = await bundle(fault);
  const wanted = new Set<string>(fault.by);
  const plans = Array.from({ length: seeds }, (_, n) => {
    const plan = planOf(n + 1);
    const all = plan.phases.flatMap(({ operations }) => operations);
    const kinds = new Set(all.map((operation) => operation.do).filter((name) => wanted.has(name)));
    return { plan, weight: kinds.size * all.filter((operation) => wanted.has(operation.do)).length };
  }).sort((a, b) => b.weight - a.weight);
  for (const { plan } of plans.slice(0, tries)) {
    const [first] = (await simulate(plan, sources)).problems;
    if (first !== undefined)
      return `seed ${String(plan.seed)}: ${first.promise}: ${first.what.split('\n')[0] ?? ''}`;
  }
  return null;
}
