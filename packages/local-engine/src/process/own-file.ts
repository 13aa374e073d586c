import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
} from 'node:fs';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { EmbeddedError } from '../errors.ts';

const MODE = 0o600;
/** Neither a link is followed nor a pipe waited for. Windows has no such flags. */
const ITSELF = constants.O_NOFOLLOW | constants.O_NONBLOCK;
const READ = constants.O_RDONLY | ITSELF;
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | ITSELF;
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Writes a file that only its owner may read: complete under a name that nobody can guess, then renamed. What lies at either
 * name is never opened, so no link leads the contents elsewhere.
 * @param owner the user it is for; only root can name another one. Default: this one.
 */
export function writeOwnFile(path: string, text: string, owner = process.getuid?.()): void {
  const draft = `${path}.${randomBytes(8).toString('hex')}`;
  try {
    const file = openSync(draft, 'wx', MODE);
    try {
      if (owner !== process.getuid?.()) fchownSync(file, Number(owner), Number(owner));
      writeFileSync(file, text);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Reads a file that is trusted: a password, an address, the processes to end. `null`: there is none. Fails when it may be
 * somebody else's work.
 */
export function readOwnFile(path: string): string | null {
  const file = openOwn(path, READ);
  if (file === null) return null;
  try {
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/** Opens a log to write at its end. Fails when what has the name may be somebody else's. */
export function openOwnLog(path: string): number {
  return openOwn(path, APPEND) ?? refuse(path, 'was removed while it was opened');
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Gives a folder itself this mode: a link would give it to whatever folder it leads to. Fails for a link. */
export function ownFolder(path: string, mode: number): Stats {
  // Not opened yet: what is in a folder may be no business of this user.
  const found = lstatSync(path);
  if (!found.isDirectory())
    throw new EmbeddedError(
      'DATA_DIR_UNUSABLE',
      `${path} is ${found.isSymbolicLink() ? 'a link' : 'not a folder'}. It must be a folder itself: remove it, or name the folder it leads to.`,
    );
  const folder = openSync(path, FOLDER);
  try {
    fchmodSync(folder, mode);
    return fstatSync(folder);
  } finally {
    closeSync(folder);
  }
}

function openOwn(path: string, flags: number): number | null {
  let file: number;
  try {
    file = openSync(path, flags, MODE);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    refuseForeign(path, lstatSync(path));
    throw error;
  }
  try {
    refuseForeign(path, fstatSync(file));
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

function refuseForeign(path: string, found: Stats): void {
  if (!found.isFile()) refuse(path, found.isSymbolicLink() ? 'is a link' : 'is not a file');
  const user = process.getuid?.();
  // Windows has neither numbers of users nor such modes.
  if (user === undefined) return;
  if (found.uid !== user) refuse(path, `belongs to user ${found.uid}, and this process is user ${user}`);
  if ((found.mode & WRITABLE_BY_OTHERS) !== 0)
    refuse(path, `can be written by other users (mode ${(found.mode & 0o777).toString(8)})`);
}

function refuse(path: string, fault: string): never {
  throw new EmbeddedError(
    'DATA_DIR_UNUSABLE',
    `${path} ${fault}. It must be a file of the user who runs this, which nobody else can write: remove it, or correct that if you know who wrote it.`,
  );
}
