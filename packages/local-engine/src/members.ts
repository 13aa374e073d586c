import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, ownIdentity } from './process/identity.ts';
import type { ProcessIdentity } from './process/identity.ts';
import { writeOwnFile } from './process/own-file.ts';

/** A file for each process that uses the services of another one. It counts as long as its process lives. */
const FOLDER = 'members';

/** This process needs the services of the folder until the result is disposed, or the process ends. */
export function becomeMember(dataDir: string): Disposable {
  const folder = join(dataDir, FOLDER);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, randomUUID());
  writeOwnFile(file, JSON.stringify(ownIdentity()));
  return {
    [Symbol.dispose]: () => {
      rmSync(file, { force: true });
    },
  };
}

/** Whether any process needs the services of the folder. Removes what dead ones left. */
export function hasMembers(dataDir: string): boolean {
  const folder = join(dataDir, FOLDER);
  return filesIn(folder).some((name) => {
    const file = join(folder, name);
    if (isMemberAlive(file)) return true;
    rmSync(file, { force: true });
    return false;
  });
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // Nobody ever joined.
  }
}

function isMemberAlive(file: string): boolean {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return false; // It has left meanwhile.
  }
  try {
    return isAlive(JSON.parse(text) as ProcessIdentity);
  } catch {
    return true; // It is being written.
  }
}
