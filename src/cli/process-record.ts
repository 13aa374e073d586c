import { rm } from 'node:fs/promises';
import { NewFile, readOwnFile } from '../lib/own-file.ts';
import { isAlive, ownIdentity, type ProcessIdentity } from '../lib/process-identity.ts';

/** Information that a Fanfare process gives others on its DATA_DIR. */
export type ProcessRecord<T> = T & { readonly process: ProcessIdentity };

/** Writes a record readable only by this user. Disposing removes it, unless another process has replaced it. */
export async function recordProcess(path: string, content: object): Promise<AsyncDisposable> {
  const process = ownIdentity();
  const file = new NewFile(path);
  await file.write(`${JSON.stringify({ ...content, process }, null, 1)}\n`);
  await file.complete();
  return {
    async [Symbol.asyncDispose]() {
      const found = await read(path);
      if (found?.process.pid === process.pid && found.process.started === process.started)
        await rm(path, { force: true });
    },
  };
}

/** The record of a running process; records of dead ones are ignored. */
export async function findRecord<T extends object>(path: string): Promise<ProcessRecord<T> | null> {
  const found = await read(path);
  return found !== null && isAlive(found.process) ? (found as ProcessRecord<T>) : null;
}

async function read(path: string): Promise<{ readonly process: ProcessIdentity } | null> {
  const text = await readOwnFile(path);
  if (text === null) return null;
  try {
    const record = JSON.parse(text) as { readonly process?: ProcessIdentity } | null;
    return record?.process === undefined ? null : { ...record, process: record.process };
  } catch {
    // Modified by somebody else: our records are written atomically.
    return null;
  }
}
