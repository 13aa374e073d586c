import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Distinguishes a process from a later one with the same pid. Duplicated in the local engine, which must stay independent.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in a unit of the operating system; only compared for equality. */
  readonly started: string;
}

/** Identity of a running process; `null` when there is none. A zombie counts as ended. */
export function identify(pid: number): ProcessIdentity | null {
  const started = process.platform === 'linux' ? startOnLinux(pid) : startByPs(pid);
  return started === null ? null : { pid, started };
}

/** Whether this very process is still running. */
export function isAlive(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.started === identity.started;
}

export function ownIdentity(): ProcessIdentity {
  const own = identify(process.pid);
  if (own === null) throw new Error(`Process ${process.pid} cannot see itself: is /proc mounted?`);
  return own;
}

function startOnLinux(pid: number): string | null {
  const stat = readOrNull(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // Count fields from the end: the second one is the program name in brackets and may contain anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  if (state === 'Z' || state === 'X') return null;
  // Start times count from boot, so a process of an earlier boot could match without the boot id.
  const boot = readOrNull('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
  return `${fields[19] ?? ''}@${boot}`;
}

function startByPs(pid: number): string | null {
  try {
    const started = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
    return started === '' ? null : started;
  } catch {
    return null; // `ps` says so when there is no such process.
  }
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
