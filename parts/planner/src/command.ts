import type { CommandContext } from '../../../src/app/command-shapes.ts';
import { CommandError } from '../../../src/cli/context.ts';
import { NewFile } from '../../../src/lib/own-file.ts';
import { amount, counted } from './figures.ts';
import { MEASURED_COSTS } from './measured-costs.ts';
import { planPage } from './page.ts';
import { planOf } from './plan.ts';
import { planLines } from './print.ts';
import { readUnitCosts } from './unit-costs.ts';
import { workloadOf, type GivenWorkload } from './workload.ts';

export interface PlanOptions extends GivenWorkload {
  readonly costs?: string;
  readonly html?: string;
  readonly json?: boolean;
}

/** Prints the resources that an installation of a given size needs, or writes a page of them. Uses no database. */
export async function plan(
  context: CommandContext,
  { costs, html, json, ...given }: PlanOptions,
): Promise<void> {
  const workload = workloadOf(given);
  const { readers, members } = workload;
  if (readers > members)
    throw new CommandError(`--readers ${amount(readers)}: there are only ${counted(members, 'member')}`);
  const planned = planOf(workload, costs === undefined ? MEASURED_COSTS : await readUnitCosts(costs));
  if (html !== undefined) {
    const file = new NewFile(html);
    await file.write(planPage(planned));
    await file.complete();
    context.terminal.out(`${html} is written: open it in a browser.`);
  } else if (json === true) context.terminal.out(JSON.stringify(planned, asText, 1));
  else for (const line of planLines(planned)) context.terminal.out(line);
}

/** JSON has no number for "nothing is pulled". */
function asText(_key: string, value: unknown): unknown {
  return value === Infinity ? null : value;
}
