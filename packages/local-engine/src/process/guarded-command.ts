import { findExecutable, needExecutable } from './executables.ts';

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * The command, sent `signal` when its parent dies (where the system offers that, which is Linux). The system forgets
 * the wish when the process changes its user, so this goes inside `asServiceUser`.
 */
export function diesWithParent(command: Command, signal: 'INT' | 'TERM' | 'KILL', path: string): Command {
  const setpriv = findExecutable('setpriv', path);
  if (setpriv === null) return command;
  return { command: setpriv, args: [`--pdeathsig=${signal}`, '--', command.command, ...command.args] };
}

/**
 * The command as an unprivileged user, if we are root; otherwise as it is. It has none of root's powers, so it cannot
 * pass folders such as root's home. Its data may lie there all the same: it is started in the folder of its data and
 * names it by where it is (`HERE`), which takes no way through the folders above.
 */
export function asServiceUser(command: Command, uid: number, path: string): Command {
  if (process.getuid?.() !== 0) return command;
  const user = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
  const powers = ['inh-caps', 'ambient-caps', 'bounding-set'].map((set) => `--${set}=-all`);
  return {
    command: needExecutable('setpriv', path),
    args: [...user, ...powers, '--no-new-privs', '--', command.command, ...command.args],
  };
}
