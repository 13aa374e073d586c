import { bundle } from './bundle.ts';
import { planOf } from './plan.ts';
import { simulate } from './simulate.ts';

const [from = 1, to = from] = process.argv.slice(2).map(Number);
const load = await bundle();
let [bad, virtual, commands] = [0, 0, 0];
const start = performance.now();
for (let seed = from; seed <= to; seed += 1) {
  const { problems, digest, lines, ...outcome } = await simulate(planOf(seed), load);
  virtual += outcome.virtualMs; commands += outcome.commands;
  if (from === to) console.log(lines.join('\n'), [...outcome.answers]);
  if (problems.length > 0) { bad += 1;
  console.log(seed, digest, problems.slice(0,6)); }
}
console.log(`${bad} bad, ${(virtual/1000).toFixed(0)} virtual s, ${commands} commands in ${((performance.now()-start)/1000).toFixed(1)} s`);
