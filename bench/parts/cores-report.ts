import { ratioOf } from '../harness/rounds.ts';
import type { Figure, PartReport, Table } from '../harness/report.ts';
import { summarise } from '../harness/statistics.ts';

/** Seconds of CPU. */
export interface CoresCpu {
  /** Of the API or the workers: what there is one or several of. */
  readonly processes: number;
  readonly database: number;
  readonly redis: number;
  readonly client: number;
}

/** One process, or several that share the work. */
export interface Side {
  /** Pieces a second, round by round. */
  readonly rates: readonly number[];
  readonly spent: readonly { readonly pieces: number; readonly cpu: CoresCpu }[];
}

/** What was measured with one process and with several. */
export interface Work {
  readonly what: string;
  readonly unit: string;
  /** Whose processes. */
  readonly who: string;
  readonly one: string;
  readonly many: string;
  readonly alone: Side;
  readonly together: Side;
}

const PARTS = ['processes', 'database', 'redis', 'client'] as const;
const MICROS = 1e6;

/** Microseconds of CPU for a piece. */
function cpuOf({ spent }: Side): CoresCpu & { readonly all: number } {
  const pieces = spent.reduce((sum, one) => sum + one.pieces, 0);
  const of = (part: keyof CoresCpu): number =>
    (spent.reduce((sum, { cpu }) => sum + cpu[part], 0) / pieces) * MICROS;
  const cpu = {
    processes: of('processes'),
    database: of('database'),
    redis: of('redis'),
    client: of('client'),
  };
  return { ...cpu, all: PARTS.reduce((sum, part) => sum + cpu[part], 0) };
}

/** How often what was done with so many cores busy can be done at most when all of them are. */
export function mostGain(busyCores: number, cores: number): number {
  return cores / busyCores;
}

export function reportCores(of: {
  readonly cores: number;
  readonly works: readonly Work[];
  readonly about: readonly string[];
}): PartReport {
  const { cores, works, about } = of;
  const measured = works.map((work) => {
    const { what, one, many, alone, together, unit } = work;
    const series = (name: string, { rates }: Side) => ({ name, values: rates });
    const rate = (name: string, { rates }: Side): Figure => ({
      name: `${what}: ${name}`,
      unit,
      summary: summarise(rates, `${what}: ${name}`),
    });
    const gain: Figure = {
      name: `${what}: ${String(cores)} processes / one`,
      unit: '×',
      summary: ratioOf(series(many, together), series(one, alone)),
    };
    return { work, gain, rates: [rate(one, alone), rate(many, together)] as const };
  });
  const rows = measured.flatMap(({ work, gain, rates }) => {
    const row = (side: Side, { name, summary }: Figure) => {
      const cpu = cpuOf(side);
      const busyCores = (summary.median * cpu.all) / MICROS;
      return {
        cells: [
          name,
          ...PARTS.map((part) => cpu[part].toFixed(1)),
          `${((cpu.processes / cpu.all) * 100).toFixed(0)} %`,
          busyCores.toFixed(2),
        ],
        most: mostGain(busyCores, cores),
      };
    };
    const [one, many] = [row(work.alone, rates[0]), row(work.together, rates[1])];
    return [
      [...one.cells, `${one.most.toFixed(2)} ×`, ''],
      [...many.cells, '', `${gain.summary.median.toFixed(2)} ×`],
    ];
  });
  const table: Table = {
    columns: [
      ...['CPU for a piece, µs', 'API or workers', 'database', 'Redis', 'client'],
      ...['share of API or workers', 'busy cores', `${String(cores)} processes could gain at most`, 'gained'],
    ],
    rows,
  };
  return {
    title: 'Many cores',
    about: [
      ...about,
      `Each by one process and by ${String(cores)}, on a machine of ${String(cores)} cores that the database and the client share with them. “At most” is computed from the cores that all of it keeps busy with one process: what is left of ${String(cores)} is there to gain. Small answers hardly need the database, so there a second process has a core to take; for pages and deliveries the database and the client have taken most of it.`,
      'What publishes and its API count as the client of the workers.',
    ],
    figures: measured.flatMap(({ rates, gain }) => [...rates, gain]),
    verdicts: [],
    tables: [table],
    charts: [],
    raw: { works, cores },
  };
}
