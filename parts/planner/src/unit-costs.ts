import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { CommandError } from '../../../src/cli/context.ts';

const micros = z.number().nonnegative();

/**
 * Microseconds: CPU of the process and of the database, and waiting without CPU. `onPath` is the share of the CPU needed
 * before it has ended.
 */
const workCost = z.object({
  ...{ process: micros, database: micros, wait: micros },
  onPath: z.number().min(0).max(1).optional(),
  /** CPU of each when many run at once. */
  amongMany: z.object({ process: micros, database: micros }).optional(),
});

const modelCost = z.object({
  delivery: z.object({ process: micros, database: micros, redis: micros }),
  /** Size of an entry with its indexes, in the database or in Redis. */
  bytes: z.object({ database: z.number().nonnegative(), redis: z.number().nonnegative() }),
});

const unitCosts = z.object({
  /** A first page of 25 as shown by frontends, over HTTP. */
  page: workCost,
  /** Additional cost of a page for a reader of pulled refs: for the first ref, and for each. */
  pulled: z.object({ first: workCost, each: workCost }),
  publish: workCost,
  /** A pass, whatever its audience. */
  pass: workCost,
  /** An idle worker that hears of an action and leaves it to another one. */
  wake: z.object({ process: micros, database: micros }).optional(),
  /** Waiting per chunk, whatever its size. */
  chunkWait: micros,
  /** An event to one socket. */
  event: z.object({ process: micros, redis: micros }),
  models: z.record(z.string(), modelCost),
  /** Size of one document with its indexes. */
  bytes: z.object({ action: z.number().nonnegative(), follow: z.number().nonnegative() }),
  measured: z.object({
    at: z.string(),
    commit: z.string(),
    cpu: z.string(),
    cores: z.number(),
    engine: z.string(),
    /** Load of the machine in the minute before: above 0.5 something else was running, and the costs are too high. */
    load: z.number(),
  }),
});

/** Unit costs as measured by `npm run bench -- unit-costs`, in microseconds and bytes. */
export type UnitCosts = z.infer<typeof unitCosts>;
export type UnitWork = z.infer<typeof workCost>;

/** The relevant part of the benchmark's report. */
const report = z.object({ raw: z.object({ costs: unitCosts }) });

/** @throws CommandError when it is not a report of the benchmark part `unit-costs`. */
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
