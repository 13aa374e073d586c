import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { CommandError } from '../context.ts';

const micros = z.number().nonnegative();

/**
 * Microseconds: CPU of the process that does it and of the database, and waiting that takes nobody's CPU. `onPath` is the share of
 * the CPU that has to be done before it has ended.
 */
const workCost = z.object({
  ...{ process: micros, database: micros, wait: micros },
  onPath: z.number().min(0).max(1).optional(),
  /** CPU of each where many are under way at once. */
  amongMany: z.object({ process: micros, database: micros }).optional(),
});

const modelCost = z.object({
  delivery: z.object({ process: micros, database: micros, redis: micros }),
  /** What an entry takes, with its indexes: of the database, of Redis. */
  bytes: z.object({ database: z.number().nonnegative(), redis: z.number().nonnegative() }),
});

const unitCosts = z.object({
  /** A first page of 25 as frontends show it, through HTTP. */
  page: workCost,
  /** What a page costs more for a reader of pulled refs: for the first of them, and for each. */
  pulled: z.object({ first: workCost, each: workCost }),
  publish: workCost,
  /** A pass of the worker, whatever its audience. */
  pass: workCost,
  /** A worker more that is woken by an action which another one takes. */
  wake: z.object({ process: micros, database: micros }).optional(),
  /** Waiting of a chunk of readers, whatever its size. */
  chunkWait: micros,
  /** An event to one socket. */
  event: z.object({ process: micros, redis: micros }),
  models: z.record(z.string(), modelCost),
  /** What one of them takes in the database, with its indexes. */
  bytes: z.object({ action: z.number().nonnegative(), follow: z.number().nonnegative() }),
  measured: z.object({
    at: z.string(),
    commit: z.string(),
    cpu: z.string(),
    cores: z.number(),
    engine: z.string(),
    /** Processes that wanted a core in the minute before: above 0.5 somebody else was at work, and the costs are too high. */
    load: z.number(),
  }),
});

/** What one piece of each kind of work costs, as `npm run bench -- unit-costs` measures it. In microseconds and bytes. */
export type UnitCosts = z.infer<typeof unitCosts>;
export type UnitWork = z.infer<typeof workCost>;

/** The part of the benchmark's report that counts here. */
const report = z.object({ raw: z.object({ costs: unitCosts }) });

/** @throws CommandError when it is no report of the benchmark's part `unit-costs`. */
export async function readUnitCosts(path: string): Promise<UnitCosts> {
  try {
    return report.parse(JSON.parse(await readFile(path, 'utf8'))).raw.costs;
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new CommandError(
      `--costs ${path} cannot be read as the report of npm run bench -- unit-costs: ${reason}`,
    );
  }
}
