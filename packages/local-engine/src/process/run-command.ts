import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Command } from './guarded-command.ts';

/** A program that failed, with the end of what it said. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

export interface RunOptions {
  readonly cwd?: string;
  /** The whole environment. Default: this process's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** What it reads from standard input. Default: nothing. */
  readonly input?: string;
  /** Called with each line the program writes to its file descriptor 3. */
  readonly onStatus?: (line: string) => void;
}

const KEPT_OUTPUT = 4_000;

/** Runs a program to its end and gives back its standard output. Rejects with CommandError unless it exits with 0. */
export function runCommand(command: Command, options: RunOptions = {}): Promise<string> {
  const name = basename(programOf(command));
  return new Promise((resolve, reject) => {
    const child = spawn(command.command, command.args, {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.env === undefined ? {} : { env: options.env }),
      stdio: ['pipe', 'pipe', 'pipe', options.onStatus === undefined ? 'ignore' : 'pipe'],
    });
    const output: string[] = [];
    // A program may end before it has read everything; its exit code says how it ended.
    const { stdin, stdout, stderr } = child;
    if (stdin === null || stdout === null || stderr === null) throw new Error(`No pipes to ${name}`);
    stdin.on('error', () => undefined).end(options.input ?? '');
    let complaints = '';
    stdout.setEncoding('utf8').on('data', (text: string) => output.push(text));
    stderr.setEncoding('utf8').on('data', (text: string) => {
      complaints = (complaints + text).slice(-KEPT_OUTPUT);
    });
    const status = child.stdio[3];
    if (options.onStatus !== undefined && status) {
      createInterface({ input: status as Readable }).on('line', options.onStatus);
    }
    child.once('error', (error) => {
      reject(new CommandError(`Cannot run ${name}: ${error.message}`, { cause: error }));
    });
    child.once('close', (code, signal) => {
      if (code === 0) resolve(output.join(''));
      else {
        const said =
          complaints.trim() === '' ? output.join('').slice(-KEPT_OUTPUT).trim() : complaints.trim();
        reject(
          new CommandError(`${name} failed (${signal ?? `exit ${code}`})${said === '' ? '.' : `: ${said}`}`),
        );
      }
    });
  });
}

/** The program itself, behind what `guarded-command` puts before it. */
function programOf({ command, args }: Command): string {
  return (args.includes('--') ? args[args.lastIndexOf('--') + 1] : command) ?? command;
}
