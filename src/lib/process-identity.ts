import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Not mistaken for a later process with the same number. Server and local engine each have it: neither needs the other. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it began, in whatever unit the system has; only ever compared for equality. */
  readonly started: string;
}

/** The identity of a running process, or null when there is none (a zombie has ended). */
export function identify(pid: number): ProcessIdentity | null {
  const started = process.platform === 'linux' ? startOnLinux(pid) : startByPs(pid);
  return started === null ? null : { pid, started };
}

/** Whether exactly this process still runs. */
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
  // The second field is the program's name in brackets and may hold anything, so count from its end.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  if (state === 'Z' || state === 'X') return null;
  // Start times count from boot: without the boot's id a process of yesterday could look like one of today.
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
