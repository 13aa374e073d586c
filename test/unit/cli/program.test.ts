import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../../src/cli/program.ts';
import { FEATURES } from '../../../src/app/features.ts';
import { recordingTerminal } from '../../support/recording-terminal.ts';
import { commandContext } from '../../support/command-context.ts';

async function run(...args: string[]) {
  const { terminal, stdout, stderr } = recordingTerminal();
  const program = await createProgram(commandContext({ env: {}, terminal }), FEATURES, () => undefined);
  const error: unknown = await program
    .parseAsync(['node', 'fanfare', ...args])
    .catch((thrown: unknown) => thrown);
  return { code: error instanceof CommanderError ? error.exitCode : error, stdout, stderr };
}

describe('the command line', () => {
  it('prints its help', async () => {
    const { code, stdout, stderr } = await run('--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: [] });
    expect(stdout.join('\n')).toMatchSnapshot();
  });

  it.each([
    ...['serve', 'worker', 'token', 'import', 'export', 'demo', 'plan', 'doctor', 'rebuild', 'offload'],
    ...['restore', 'shard', 'tenant', 'init', 'schema'],
  ])('prints help for %s', async (command) => {
    const { code, stdout, stderr } = await run(command, '--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: [] });
    expect(stdout.join('\n')).toMatchSnapshot();
  });

  it.each([
    [['dance'], "unknown command 'dance'", 'npx fanfare --help'],
    [['serve', '--wroker'], "unknown option '--wroker'", 'npx fanfare serve --help'],
    [['tenant', 'erase', 'a', '--no'], "unknown option '--no'", 'npx fanfare tenant erase --help'],
    [['serve', 'everything'], 'too many arguments', 'npx fanfare serve --help'],
    [['token'], "required option '--sub <user>' not specified", 'npx fanfare token --help'],
    [['export'], "required option '--member <id>' not specified", 'npx fanfare export --help'],
    [['import', '--in-flight', '0'], 'Expected a whole number from 1 to 256.', 'npx fanfare import --help'],
    [['import', '--in-flight', '257'], 'Expected a whole number from 1 to 256.', 'npx fanfare import --help'],
    [['demo', '--count', '1.5'], 'Expected a whole number from 1.', 'npx fanfare demo --help'],
  ])('rejects %j and points to the help', async (args, message, help) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: [] });
    expect(stderr.join('\n')).toContain(message);
    expect(stderr.join('\n')).toContain(`Help: ${help}`);
  });
});
