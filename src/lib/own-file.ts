import { randomBytes } from 'node:crypto';
import { constants, createWriteStream, type Stats, type WriteStream } from 'node:fs';
import { access, lstat, open, rename, rm, writeFile, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

const NEW_FILE = { flags: 'wx', mode: 0o600 } as const;
/** Neither a link is followed nor a pipe waited for. Windows has no such flags. */
const READ_ITSELF = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const WRITABLE_BY_OTHERS = 0o022;

/**
 * A file that only this user may read and that gets its name when it is complete. Until then it has one that nobody can guess.
 * An existing file at either name is never opened: no link leads the contents elsewhere, and the file is never somebody else's.
 */
export class NewFile {
  readonly path: string;
  readonly draft: string;

  constructor(path: string) {
    this.path = path;
    this.draft = `${path}.${randomBytes(8).toString('hex')}.part`;
  }

  /** When the stream has finished, the contents are on the disk. */
  open(): WriteStream {
    return createWriteStream(this.draft, { ...NEW_FILE, flush: true });
  }

  async write(text: string): Promise<void> {
    await writeFile(this.draft, text, { flag: NEW_FILE.flags, mode: NEW_FILE.mode });
  }

  /** Replaces what has the name. */
  async complete(): Promise<void> {
    await rename(this.draft, this.path);
  }

  /** Removes it, unless it is complete. */
  async discard(): Promise<void> {
    await rm(this.draft, { force: true });
  }
}

/**
 * Reads a file that is trusted: a secret, or where to send one. `null`: there is none.
 * @throws if it may be somebody else's work
 */
export async function readOwnFile(path: string): Promise<string | null> {
  await using file = await open(path, READ_ITSELF).catch(async (error: unknown) => {
    if (hasCode(error, 'ENOENT')) return null;
    await refuseForeignFile(path);
    throw error;
  });
  if (file === null) return null;
  refuse(path, await file.stat());
  return await file.readFile('utf8');
}

/** @throws if a file may be somebody else's work: it belongs to another user, others may write it, or it is a link */
export async function refuseForeignFile(path: string): Promise<void> {
  refuse(path, await lstat(path));
}

function refuse(path: string, found: Stats): void {
  const fault = faultOf(found);
  if (fault !== null)
    throw new Error(
      `${path} ${fault}. It must be a file of the user who runs this, which nobody else can write: remove it, or correct that if you know who wrote it.`,
    );
}

function faultOf(found: Stats): string | null {
  if (!found.isFile()) return found.isSymbolicLink() ? 'is a link' : 'is not a file';
  const user = process.getuid?.();
  // Windows has neither numbers of users nor such modes.
  if (user === undefined) return null;
  if (found.uid !== user)
    return `belongs to user ${String(found.uid)}, and this process is user ${String(user)}`;
  if ((found.mode & WRITABLE_BY_OTHERS) !== 0)
    return `can be written by other users (mode ${(found.mode & 0o777).toString(8)})`;
  return null;
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/**
 * Makes a folder and those above it, unless they exist. Node's recursive mkdir hides why this is impossible: it says
 * ENOENT on a read-only file system, and never ends where a file system like /proc answers ENOENT itself.
 */
export async function makeFolder(path: string): Promise<void> {
  if (await isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) await makeFolder(parent);
  try {
    await mkdir(path);
  } catch (error) {
    // Another process may have made it first.
    if (!(await isFolder(path))) throw error;
  }
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

export async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
