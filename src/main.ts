#!/usr/bin/env node
import { readEnvironment } from './config/env.ts';
import { createProgram } from './cli/program.ts';
import { reportFailure } from './cli/report-failure.ts';
import { processTerminal } from './cli/terminal.ts';
import { BROUGHT } from './app/brought.ts';
import { FEATURES } from './app/features.ts';

const context = {
  ...{ env: readEnvironment(), terminal: processTerminal(), brought: BROUGHT },
  composed: () => import('./app/composed.ts'),
};
try {
  const program = await createProgram(context, FEATURES, (code) => {
    process.exitCode = code;
  });
  await program.parseAsync(process.argv);
} catch (error) {
  process.exitCode = reportFailure(context, error);
}
