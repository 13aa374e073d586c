#!/usr/bin/env node
import { readEnvironment } from './config/env.ts';
import { createProgram } from './cli/program.ts';
import { reportFailure } from './cli/report-failure.ts';
import { processTerminal } from './cli/terminal.ts';

const context = { env: readEnvironment(), terminal: processTerminal() };
try {
  const program = await createProgram(context, (code) => {
    process.exitCode = code;
  });
  await program.parseAsync(process.argv);
} catch (error) {
  process.exitCode = reportFailure(context, error);
}
