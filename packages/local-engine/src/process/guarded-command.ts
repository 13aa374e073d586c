import { findExecutable, needExecutable } from './executables.ts';

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * The user PostgreSQL runs as when we are root, which it refuses to be. The number belongs to nobody on a usual
 * system, needs no entry in its user list, and fits into the 65,536 ids of a user namespace.
 */
export const SERVICE_UID = 59432;

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
 * The command as an unprivileged user, if we are root; otherwise as it is. Of root's powers it keeps one, to pass
 * folders it could not enter by its own right: the engine and the data are often below root's home, and neither moving
 * them nor mounting them elsewhere is possible everywhere (a plain container may not mount). `no_setuid_fixup` makes
 * access(2), with which PostgreSQL looks for its own files, see that power too.
 */
export function asServiceUser(command: Command, uid: number, path: string): Command {
  if (process.getuid?.() !== 0) return command;
  const user = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
  const powers = ['inh-caps', 'ambient-caps', 'bounding-set'].map((set) => `--${set}=-all,+dac_override`);
  const rules = ['--securebits=+no_setuid_fixup', '--no-new-privs'];
  return {
    command: needExecutable('setpriv', path),
    args: [...user, ...powers, ...rules, '--', command.command, ...command.args],
  };
}
