import { amount, bytesOf, coresText, counted, seconds } from './figures.ts';
import type { Lag, Plan } from './shape.ts';

/** Above this load, costs were measured on a machine that was busy with something else. */
const BUSY = 0.5;

export function planLines(plan: Plan): readonly string[] {
  const { workload, operations, cores, machines, storage, measured } = plan;
  const { members, model, threshold } = workload;
  const isPushed = operations.deliveries > 0;
  return [
    `${counted(members, 'member')}, ${counted(workload.readers, 'reader')} a day, feed model ${model}${model === 'pull' ? '' : `, threshold ${amount(threshold)}`}`,
    '',
    ...table('a second, busiest hour', [
      ['actions', amount(operations.actions)],
      ['deliveries', amount(operations.deliveries)],
      ['pages', amount(operations.pages)],
      ['events to sockets', amount(operations.events)],
      ['queries for watchers', amount(operations.watcherQueries)],
    ]),
    ...table('busy cores → machines', [
      ['API', `${coresText(cores.api)} → ${amount(machines.api)}`],
      [
        'workers',
        `${coresText(cores.worker)} → ${amount(machines.worker)} (${plan.workers === 1 ? '1 process' : `${amount(plan.workers)} processes`})`,
      ],
      [
        'database',
        `${coresText(cores.database)} → ${amount(machines.database)} (${counted(plan.shards, 'shard')} of three)`,
      ],
      ['Redis', `${coresText(cores.redis)} → ${amount(machines.redis)}`],
    ]),
    ...table(`stored after ${amount(workload.days)} days`, [
      ...storage.map(({ what, where, bytes, documents, aDay }): [string, string] => [
        `${what} (${where})`,
        `${bytesOf(bytes)}, ${amount(documents)}${aDay === 0 ? '' : `, ${amount(aDay)} more a day`}`,
      ]),
    ]),
    ...(isPushed
      ? table('until a reader has an action: p50, p99, p99.9, the last one', [
          ['as planned', ...lagTexts(plan.lag)],
          ['the busiest worker dies when most is waiting', ...lagTexts(plan.lagWithWorkerLost)],
        ])
      : ['Nothing is written into feeds: readers find an action as soon as it is published.', '']),
    ...table('threshold: deliveries/s, pulled refs a reader, busy cores, last follower', [
      ...plan.thresholds.map((one): [string, ...string[]] => [
        amount(one.threshold),
        amount(one.deliveries),
        amount(one.pulledFollowed),
        coresText(one.cores),
        seconds(one.lastFollower),
      ]),
    ]),
    'To change:',
    ...(plan.advice.length === 0 ? ['  nothing'] : plan.advice.map((line) => `  - ${line}`)),
    '',
    `Costs measured ${measured.at.slice(0, 10)} on ${measured.cpu}, ${amount(measured.cores)} cores, ${measured.engine};`,
    'one server without replication: a replica set confirms each write with its other members, which takes longer.',
    ...(measured.load > BUSY
      ? [
          `the machine was at other work too (load ${amount(measured.load)}), so they are too high: measure again, --costs.`,
        ]
      : []),
    `${amount(plan.simulated.actions)} actions of ${seconds(plan.simulated.seconds)} simulated, seed ${String(workload.seed)}.`,
  ];
}

function lagTexts({ p50, p99, p999, most }: Lag): string[] {
  return [p50, p99, p999, most].map(seconds);
}

/** Columns under each other, below a title. */
function table(title: string, rows: readonly (readonly [string, ...string[]])[]): string[] {
  if (rows.length === 0) return [];
  const widths = (rows[0] ?? []).map((_, n) => Math.max(...rows.map((row) => row[n]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join('  '));
  return [`${title}:`, ...lines.map((line) => `  ${line.trimEnd()}`), ''];
}
