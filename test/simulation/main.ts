import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { bundle } from './bundle.ts';
import { planOf, type Plan } from './plan.ts';
import { shrunk } from './shrink.ts';
import { simulate, type Outcome } from './simulate.ts';

// npm run -s simulate -- <seed> [<last seed>]    runs seeds; the first that fails is made smaller
// npm run -s simulate -- --plan <file>           runs a plan
// --trace prints all that happened, --repeat-one-in <n> runs each nth seed twice

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    trace: { type: 'boolean', default: false },
    plan: { type: 'string' },
    'repeat-one-in': { type: 'string' },
  },
});

/** Of a trace, what leads to the end. */
const LAST_LINES = 60;

const sources = await bundle();
const plans = values.plan === undefined ? plansOf(positionals.map(Number)) : [planIn(values.plan)];
const repeatOneIn = Number(values['repeat-one-in'] ?? Infinity);
const before = process.cpuUsage();
let [count, failed, virtualMs, commands] = [0, 0, 0, 0];
for (const plan of plans) {
  const outcome = await done(plan);
  if (values.trace) console.log(outcome.lines.join('\n'));
  if (outcome.problems.length > 0) await tell(plan, outcome.problems);
  else if (plan.seed % repeatOneIn === 0 && (await done(plan)).digest !== outcome.digest)
    console.log(`Seed ${String(plan.seed)} does not repeat`);
  else continue;
  failed += 1;
}
const { user, system } = process.cpuUsage(before);
const seconds = (user + system) / 1e6;
console.log(
  `${String(failed)} of ${String(count)} failed; ${(virtualMs / 3_600_000).toFixed(2)} simulated hours, ` +
    `${String(commands)} commands, in ${seconds.toFixed(0)} s of CPU: ` +
    `${(virtualMs / 1_000 / seconds).toFixed(0)} simulated hours in one`,
);
process.exitCode = failed === 0 ? 0 : 1;

function* plansOf([from = 1, to = from]: readonly number[]): Generator<Plan> {
  for (let seed = from; seed <= to; seed += 1) yield planOf(seed);
}

function planIn(file: string): Plan {
  return JSON.parse(readFileSync(file, 'utf8')) as Plan;
}

async function done(plan: Plan): Promise<Outcome> {
  const outcome = await simulate(plan, sources);
  count += 1;
  virtualMs += outcome.virtualMs;
  commands += outcome.commands;
  return outcome;
}

async function tell(plan: Plan, problems: Outcome['problems']): Promise<void> {
  const [first] = problems;
  if (first === undefined) return;
  console.log(`Seed ${String(plan.seed)}: npm run -s simulate -- ${String(plan.seed)}`);
  for (const { promise, what } of problems.slice(0, 8)) console.log(`  ${promise}: ${what}`);
  if (failed > 0) return;
  const smaller = await shrunk(plan, first.promise, sources);
  const { lines, problems: left } = await simulate(smaller.plan, sources);
  console.log(`Smaller, after ${String(smaller.tries)} tries:\n${JSON.stringify(smaller.plan)}`);
  for (const { promise, what } of left.slice(0, 4)) console.log(`  ${promise}: ${what}`);
  const said = lines.filter((line) => / client |fault|dies|complains|watcher/.test(line));
  console.log(`  ${said.slice(-LAST_LINES).join('\n  ')}`);
}
