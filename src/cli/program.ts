import { Command } from 'commander';
import { ownCommand, packageVersion } from '../lib/package-info.ts';
import { COMMANDS } from '../packages/commands.ts';
import type { CommandContext } from './context.ts';
import { addDataCommands } from './data-commands.ts';
import { addInstallationCommands, addProjectCommands } from './installation-commands.ts';
import { addServerCommands } from './server-commands.ts';
import { addTenantCommands } from './tenant-commands.ts';

// Every action imports its command when called: help and tokens should not wait for databases to load.

/** Usage errors are explained, then thrown as CommanderError. @param exit receives a command's exit code. */
export async function createProgram(given: CommandContext, exit: (code: number) => void): Promise<Command> {
  let context = given;
  const program = new Command('fanfare')
    .description('Activity-feed server: record actions, give every reader a personal feed, push it live.')
    .version(await packageVersion())
    .option(
      '--config <file>',
      'configuration file with action types and more; default: FANFARE_CONFIG, otherwise fanfare.config.{ts,mjs,js} here',
    )
    .exitOverride()
    .configureOutput({
      getOutHelpWidth: () => HELP_WIDTH,
      writeOut: (text) => {
        context.terminal.out(text.trimEnd());
      },
      writeErr: (text) => {
        context.terminal.note(text.trimEnd());
      },
    })
    .addHelpText('after', examples(ownCommand()))
    .hook('preAction', async (root, command) => {
      if (NEEDS_NO_TYPES.has(command.name())) return;
      const { withHostConfig } = await import('./host-config-file.ts');
      context = await withHostConfig(given, root.opts<{ readonly config?: string }>().config);
    });

  const now = (): CommandContext => context;
  addServerCommands(program, now, exit);
  addDataCommands(program, now, exit);
  for (const add of COMMANDS) add(program, now, exit);
  addInstallationCommands(program, now, exit);
  addTenantCommands(program, now);
  addProjectCommands(program, now, exit);
  sayWhereHelpIs(program, ownCommand());
  return program;
}

/** After a usage error: the help of the command that was used. */
function sayWhereHelpIs(command: Command, name: string): void {
  command.showHelpAfterError(`Help: ${name} --help`);
  for (const sub of command.commands) sayWhereHelpIs(sub, `${name} ${sub.name()}`);
}

/** Commands that work without the types of actions. */
const NEEDS_NO_TYPES: ReadonlySet<string> = new Set(['init', 'plan', 'token']);

const HELP_WIDTH = 110;

const examples = (command: string): string => `
Settings are environment variables: ${command} doctor --settings

Examples:
  ${command} serve                                   API and worker on http://127.0.0.1:4000
  ${command} token --sub u1 --roles service,admin    a token for the user u1
  ${command} demo                                    something to look at
  ${command} import --members members.ndjson --refs refs.ndjson.gz \\
      --follows follows.ndjson --actions actions.ndjson.gz
  ${command} import --actions actions.ndjson --url http://127.0.0.1:4000
  MONGODB_URI=mongodb://db/ REDIS_URL=redis://redis/ ${command} worker`;
