import { bundle } from './bundle.ts';
import { planOf } from './plan.ts';
import { simulate } from './simulate.ts';
const log = (s: string) => `console.log('DBG', ${JSON.stringify(s)}, performance.now()); `;
const load = await bundle({file:'src/feed/store/pulled-refs.ts', from: "    return reading.pulled;", to: `    console.log('DBG current', now, reading.at, reading.pulled); return reading.pulled;`});
void log;
const r = await simulate(planOf(41), load);
console.log(r.problems, r.lines.length);
