import { goodThresholds, LONGEST_LAG } from '../src/advice.ts';
import { amount, bytesOf, seconds } from '../src/figures.ts';
import { planOf } from '../src/plan.ts';
import type { Plan, ThresholdCost } from '../src/shape.ts';
import type { UnitCosts } from '../src/unit-costs.ts';
import { workloadOf } from '../src/workload.ts';

const SIZES = [1_000_000, 10_000_000, 100_000_000];
const TWITTER = 'https://highscalability.com/the-architecture-twitter-uses-to-deal-with-150m-active-users/';
const READS_A_SECOND = 300_000;
const MICROS = 1e6;

/** The parts of docs/scale.md that are figures, by the name of the marks around them. */
export function scaleTables(costs: UnitCosts): Readonly<Record<string, readonly string[]>> {
  const plans = SIZES.map((members) => planOf(workloadOf({ members }), costs));
  return {
    sizes: sizesTable(plans),
    thresholds: plans.flatMap(thresholdTable),
    answer: plans.map(thresholdAnswer),
    threshold: [...charts(plans)],
    celebrity: celebrityTable(plans),
    growth: growthTable(plans),
    breaks: plans.flatMap(({ workload, advice }) => [
      `- **${amount(workload.members)} members**: ${advice.length === 0 ? 'nothing' : advice.join('; ')}.`,
    ]),
    field: fieldTable(plans, costs),
    measured: measuredLine(costs),
  };
}

/** Puts the tables between their marks. @throws Error where the document lacks one. */
export function withTables(text: string, tables: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(tables).reduce((page, [name, lines]) => {
    const marks = new RegExp(`(<!-- plan: ${name} -->\n)[^]*?(<!-- /plan -->)`);
    if (!marks.test(page)) throw new Error(`The page has no marks for ${name}`);
    return page.replace(marks, (_, begin: string, end: string) => `${begin}\n${lines.join('\n')}\n\n${end}`);
  }, text);
}

function measuredLine({ measured: { at, cpu, cores, engine, load } }: UnitCosts): string[] {
  const busy =
    load > 0.5
      ? ` The machine was at other work too (load ${amount(load)}): **the costs are too high**.`
      : '';
  return [`Measured ${at.slice(0, 10)} on ${cpu}, ${amount(cores)} cores, ${engine}.${busy}`];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : '---:'))), ...rows.map(line)];
}

const names = (plans: readonly Plan[]): string[] =>
  plans.map(({ workload }) => `${amount(workload.members / 1e6)} M members`);

function sizesTable(plans: readonly Plan[]): string[] {
  const row = (what: string, of: (plan: Plan) => string): string[] => [what, ...plans.map(of)];
  const machines = (kind: keyof Plan['machines']) => (plan: Plan) =>
    `${amount(plan.machines[kind])} (${plan.cores[kind].toFixed(1)})`;
  const lag = (of: keyof Plan['lag']) => (plan: Plan) => seconds(plan.lag[of]);
  return table(
    ['in the busiest hour', ...names(plans)],
    [
      row('actions/s', ({ operations }) => amount(operations.actions)),
      row('deliveries/s', ({ operations }) => amount(operations.deliveries)),
      row('pages/s', ({ operations }) => amount(operations.pages)),
      row('pages of notifications/s', ({ operations }) => amount(operations.notifications)),
      row('events/s to sockets', ({ operations }) => amount(operations.events)),
      row('machines of the API (busy cores)', machines('api')),
      row('machines of workers (busy cores)', machines('worker')),
      row('machines of the database (busy cores)', machines('database')),
      row('machines of Redis (busy cores)', machines('redis')),
      row('stored after a year', ({ storage }) =>
        bytesOf(storage.reduce((sum, { bytes }) => sum + bytes, 0)),
      ),
      row('a reader has an action after, p50', lag('p50')),
      row('… p99', lag('p99')),
      row('… p99.9', lag('p999')),
      row('… p99.9, the busiest worker dies', (plan) => seconds(plan.lagWithWorkerLost.p999)),
      row('… the last one, the busiest worker dies', (plan) => seconds(plan.lagWithWorkerLost.most)),
    ],
  );
}

function thresholdTable({ workload, thresholds }: Plan): string[] {
  return [
    `${amount(workload.members)} members:`,
    '',
    ...table(
      ['threshold', 'deliveries/s', 'pulled refs a reader follows', 'busy cores', 'last follower after'],
      thresholds.map((one) => [
        amount(one.threshold),
        ...[amount(one.deliveries), amount(one.pulledFollowed), one.cores.toFixed(1)],
        seconds(one.lastFollower),
      ]),
    ),
    '',
  ];
}

/** What its table comes to. */
function thresholdAnswer({ workload, thresholds }: Plan): string {
  const good = goodThresholds(thresholds);
  const size = `- **${amount(workload.members)} members**: `;
  if (good === null)
    return `${size}none of these, the last follower waits longer than ${seconds(LONGEST_LAG)} at each.`;
  const { cheapest, soonest } = good;
  const text = ({ cores, lastFollower }: ThresholdCost): string =>
    `${cores.toFixed(1)} busy cores, the last follower after ${seconds(lastFollower)}`;
  return cheapest === soonest
    ? `${size}**${amount(cheapest.threshold)}** (${text(cheapest)}).`
    : `${size}from **${amount(soonest.threshold)}** (${text(soonest)}) to **${amount(cheapest.threshold)}** (${text(cheapest)}).`;
}

function* charts(plans: readonly Plan[]): Generator<string> {
  const [first] = plans;
  const labels = (first?.thresholds ?? []).map(({ threshold }) => `"${amount(threshold)}"`).join(', ');
  for (const { workload, thresholds } of plans) {
    const size = amount(workload.members);
    yield* chart(
      `Busy cores by threshold, ${size} members`,
      labels,
      'cores',
      thresholds.map(({ cores }) => cores),
    );
  }
  const last = plans.at(-1);
  if (last === undefined) return;
  const waits = last.thresholds.filter(({ lastFollower }) => lastFollower < 60);
  yield* chart(
    `Seconds until the last follower has an action, ${amount(last.workload.members)} members`,
    waits.map(({ threshold }) => `"${amount(threshold)}"`).join(', '),
    'seconds',
    waits.map(({ lastFollower }) => lastFollower),
  );
}

function chart(title: string, labels: string, unit: string, values: readonly number[]): string[] {
  return [
    '```mermaid',
    'xychart-beta',
    `  title "${title}"`,
    `  x-axis [${labels}]`,
    `  y-axis "${unit}"`,
    `  bar [${values.map((value) => String(Number(value.toPrecision(3)))).join(', ')}]`,
    '```',
    '',
  ];
}

function celebrityTable(plans: readonly Plan[]): string[] {
  return table(
    ['the most followed ref', ...names(plans)],
    [
      ['followers', ...plans.map(({ largest }) => amount(largest))],
      ['pushed: entries written for an action', ...plans.map(({ largest }) => amount(largest))],
      [
        'pushed: until the last follower has it',
        ...plans.map(({ thresholds }) => seconds(thresholds.at(-1)?.lastFollower ?? NaN)),
      ],
      [
        'pulled: queries of a worker to find who watches',
        ...plans.map(({ workload }) => amount((workload.readers * workload.watching) / 500)),
      ],
    ],
  );
}

function growthTable(plans: readonly Plan[]): string[] {
  const [first] = plans;
  return table(
    ['collection', ...names(plans).map((name) => `${name}: a year, a day`)],
    (first?.storage ?? []).map(({ what }, index) => [
      what,
      ...plans.map(({ storage }) => {
        const entry = storage[index];
        if (entry === undefined || entry.documents === 0) return 'none';
        const aDay =
          entry.aDay === 0 ? 'with members' : bytesOf((entry.bytes / entry.documents) * entry.aDay);
        return `${bytesOf(entry.bytes)}, ${aDay}`;
      }),
    ]),
  );
}

function fieldTable(plans: readonly Plan[], { page, measured }: UnitCosts): string[] {
  const largest = plans.at(-1);
  const ms = (page.process + page.database + page.wait) / 1_000;
  return table(
    ['published', 'here, by plan'],
    [
      [
        `300,000 timeline reads/s ([Twitter, 2013](${TWITTER}))`,
        `${amount((READS_A_SECOND * page.process) / MICROS)} busy cores of the API and ${amount((READS_A_SECOND * page.database) / MICROS)} of the database, with names and texts of 25 actions`,
      ],
      [
        `delivered in less than 5 s as a rule, after up to 5 minutes to the 31 M followers of one account ([Twitter, 2013](${TWITTER}))`,
        `p99 ${seconds(largest?.lag.p99 ?? NaN)} at ${amount(largest?.workload.members ?? NaN)} members and ${amount(largest?.operations.deliveries ?? NaN)} deliveries/s`,
      ],
      [
        '100 M users, 500 M activities, 200 M follows: reads at p50 11–15 ms with up to 1,500 requests/s ([Stream, 2025](https://getstream.io/blog/activity-feeds-benchmark))',
        `a page takes ${ms.toFixed(1)} ms on ${measured.cpu === '' ? 'the machine of the benchmark' : measured.cpu}, one at a time; [it does not grow with the collection](benchmarks.md)`,
      ],
    ],
  );
}
