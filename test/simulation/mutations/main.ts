import { bundle } from '../bundle.ts';
import { planOf } from '../plan.ts';
import { simulate } from '../simulate.ts';
import { FAULTS } from './table.ts';

// npm run -s mutations [-- <seeds> [<words of its name>]]

const [most = '500', words = ''] = process.argv.slice(2);
let found = 0;
const chosen = FAULTS.filter(({ of, name }) => `${of}: ${name}`.includes(words));
for (const { name, of, ...mutation } of chosen) {
  const sources = await bundle(mutation);
  let line = `not found by ${most} seeds`;
  for (let seed = 1; seed <= Number(most); seed += 1) {
    const { problems } = await simulate(planOf(seed), sources);
    const [first] = problems;
    if (first === undefined) continue;
    line = `seed ${String(seed)}: ${first.promise}: ${first.what.split('\n')[0] ?? ''}`;
    found += 1;
    break;
  }
  console.log(`${of}: ${name}\n    ${line}`);
}
console.log(`${String(found)} of ${String(chosen.length)} found`);
