import type { AddCommands } from '../../../src/app/command-shapes.ts';
import type { PlanOptions } from './command.ts';
import { planOptions } from './options.ts';

/** `fanfare plan`. */
export const addPlan: AddCommands = (program, context) => {
  const plan = program
    .command('plan')
    .description('estimate machines, storage and delivery times of an installation of a given size');
  for (const option of planOptions()) plan.addOption(option);
  plan.action(async (options: PlanOptions) => {
    const { plan: run } = await import('./command.ts');
    await run(context(), options);
  });
};
