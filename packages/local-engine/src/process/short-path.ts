import { mkdtempSync, rmSync, rmdirSync, symlinkSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOwnFile, writeOwnFile } from './own-file.ts';

/** The longest name in DATA_DIR that a client has to give, and the longest path of a socket on any system. */
const LONGEST_NAME = 'documentdb/data/.s.PGSQL.5432';
const LONGEST_PATH_BYTES = 103;

/** Says where the short path is, for its removal. */
const NOTE = 'short-path';

/**
 * A path of the folder by which the sockets in it can be named: their names may be only some 100 bytes long. Where the
 * folder's own path is too long it is a link in a new folder that only this user can enter.
 */
export function shortPathOf(dataDir: string): string {
  removeShortPath(dataDir);
  if (fits(dataDir)) return dataDir;
  const place = [tmpdir(), '/tmp'].find((folder) => fits(join(folder, 'fanfare-XXXXXX/data'))) ?? tmpdir();
  const folder = mkdtempSync(join(place, 'fanfare-'));
  writeOwnFile(join(dataDir, NOTE), folder);
  symlinkSync(dataDir, join(folder, 'data'));
  return join(folder, 'data');
}

/** The sockets have gone. */
export function removeShortPath(dataDir: string): void {
  const note = join(dataDir, NOTE);
  const folder = readOwnFile(note);
  if (folder === null) return;
  rmSync(note);
  try {
    unlinkSync(join(folder, 'data'));
    rmdirSync(folder);
  } catch (error) {
    // Somebody tidied up.
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

function fits(folder: string): boolean {
  return Buffer.byteLength(join(folder, LONGEST_NAME)) <= LONGEST_PATH_BYTES;
}
