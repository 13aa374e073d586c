import { amount, bytesOf, coresText, counted, seconds } from './figures.ts';
import type { Lag, Plan } from './shape.ts';

/** Above this load, costs were measured on a machine that was busy with something else. */
const BUSY = 0.5;

export interface ReportTable {
  readonly title: string;
  /** Titles of the columns after the first. A table with one such column has it in its own title. */
  readonly columns?: readonly string[];
  /** The figure that `size` is. */
  readonly drawn?: string;
  readonly rows: readonly ReportRow[];
}

export interface ReportRow {
  readonly cells: readonly [what: string, ...figures: string[]];
  /** How long its bar is, relative to those of the other rows. */
  readonly size?: number;
  /** As the workload is given. */
  readonly isPlanned?: boolean;
}

/** A plan in words and figures, which each output lays out in its own way. */
export interface Report {
  readonly title: string;
  readonly tables: readonly ReportTable[];
  /** Where nothing is written into feeds. */
  readonly instead: string | null;
  readonly advice: readonly string[];
  readonly notes: readonly string[];
}

export function reportOf(plan: Plan): Report {
  const { workload, operations, measured } = plan;
  const { members, model, threshold } = workload;
  const isPushed = operations.deliveries > 0;
  return {
    title: `${counted(members, 'member')}, ${counted(workload.readers, 'reader')} a day, feed model ${model}${model === 'pull' ? '' : `, threshold ${amount(threshold)}`}`,
    tables: [
      loadOf(plan),
      machinesTable(plan),
      storageTable(plan),
      ...(isPushed ? [lagTable(plan)] : []),
      ...(plan.thresholds.length > 0 ? [thresholdTable(plan)] : []),
    ],
    instead: isPushed
      ? null
      : 'Nothing is written into feeds: readers find an action as soon as it is published.',
    advice: plan.advice,
    notes: [
      `Costs measured ${measured.at.slice(0, 10)} on ${measured.cpu}, ${amount(measured.cores)} cores, ${measured.engine};`,
      'one server without replication: a replica set confirms each write with its other members, which takes longer.',
      ...(measured.load > BUSY
        ? [
            `the machine was at other work too (load ${amount(measured.load)}), so they are too high: measure again, --costs.`,
          ]
        : []),
      `${amount(plan.simulated.actions)} actions of ${seconds(plan.simulated.seconds)} simulated, seed ${String(workload.seed)}.`,
    ],
  };
}

function loadOf({ operations }: Plan): ReportTable {
  const row = (what: string, size: number): ReportRow => ({ cells: [what, amount(size)], size });
  return {
    title: 'a second, busiest hour',
    rows: [
      row('actions', operations.actions),
      row('deliveries', operations.deliveries),
      row('pages', operations.pages),
      ...(operations.marked === 0 ? [] : [row('of readers who mark much', operations.marked)]),
      row('pages of notifications', operations.notifications),
      row('events to sockets', operations.events),
      row('queries for watchers', operations.watcherQueries),
    ],
  };
}

function machinesTable({ cores, machines, workers, shards }: Plan): ReportTable {
  const row = (what: string, busy: number, figures: string): ReportRow => ({
    cells: [what, `${coresText(busy)} → ${figures}`],
    size: busy,
  });
  const processes = workers === 1 ? '1 process' : `${amount(workers)} processes`;
  return {
    title: 'busy cores → machines',
    rows: [
      row('API', cores.api, amount(machines.api)),
      row('workers', cores.worker, `${amount(machines.worker)} (${processes})`),
      row('database', cores.database, `${amount(machines.database)} (${counted(shards, 'shard')} of three)`),
      row('Redis', cores.redis, amount(machines.redis)),
    ],
  };
}

function storageTable({ storage, workload }: Plan): ReportTable {
  return {
    title: `stored after ${amount(workload.days)} days`,
    rows: storage.map(({ what, where, bytes, documents, aDay }) => ({
      cells: [
        `${what} (${where})`,
        `${bytesOf(bytes)}, ${amount(documents)}${aDay === 0 ? '' : `, ${amount(aDay)} more a day`}`,
      ],
      size: bytes,
    })),
  };
}

function lagTable({ lag, lagWithWorkerLost }: Plan): ReportTable {
  const row = (what: string, { p50, p99, p999, most }: Lag): ReportRow => ({
    cells: [what, ...[p50, p99, p999, most].map(seconds)],
    size: p999,
  });
  return {
    title: 'until a reader has an action: p50, p99, p99.9, the last one',
    columns: ['p50', 'p99', 'p99.9', 'the last one'],
    drawn: 'p99.9',
    rows: [row('as planned', lag), row('the busiest worker dies when most is waiting', lagWithWorkerLost)],
  };
}

function thresholdTable({ thresholds, workload }: Plan): ReportTable {
  return {
    title: 'threshold: deliveries/s, pulled refs a reader, busy cores, last follower',
    columns: ['deliveries/s', 'pulled refs a reader', 'busy cores', 'last follower'],
    drawn: 'busy cores',
    rows: thresholds.map((one) => ({
      cells: [
        amount(one.threshold),
        amount(one.deliveries),
        amount(one.pulledFollowed),
        coresText(one.cores),
        seconds(one.lastFollower),
      ],
      size: one.cores,
      isPlanned: one.threshold === workload.threshold,
    })),
  };
}
