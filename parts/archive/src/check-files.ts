import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import { refusalOfFile } from './restore-actions.ts';
import { refuseForeignFile } from '../../../src/lib/own-file.ts';
import { CommandError } from '../../../src/cli/context.ts';
import { checkOffloadFile, type CheckedFile, type OffloadHeader } from './offload-file.ts';

// Checks that need no database, so that none is started for an unusable file.

interface Checked {
  /** Whether ids have a tenant prefix here. */
  readonly hasTenants: boolean;
  readonly onProgress: (fraction: number, actions: number) => void;
}

/** @throws CommandError if the file was modified or cannot be used here. */
export async function checkRestorable(
  path: string,
  { hasTenants, onProgress }: Checked,
): Promise<CheckedFile> {
  const file = await read(path, onProgress);
  const refusal = refusalOfFile(file.header, hasTenants);
  if (refusal !== null) throw new CommandError(`${path} cannot be restored. ${refusal}`);
  return file;
}

/** @throws CommandError if actions older than `before` cannot be written there, or differ from the file's. */
export async function checkTarget(
  path: string,
  before: Date,
  { hasTenants, onProgress }: Checked,
): Promise<void> {
  if (await isThere(path)) {
    // It becomes the only copy, so nobody else may change it.
    await refuseForeignFile(path);
    const { header } = await read(path, onProgress);
    refuseOtherTime(path, header, before);
    const refusal = refusalOfFile(header, hasTenants);
    if (refusal !== null) throw new CommandError(`${path} already exists. ${refusal}`);
    return;
  }
  await access(dirname(path), constants.W_OK).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${path} cannot be written: ${reason}`, { cause: error });
  });
}

async function read(path: string, onProgress: Checked['onProgress']): Promise<CheckedFile> {
  const file = await checkOffloadFile(path, (actions) => {
    onProgress(0, actions);
  });
  onProgress(1, file.actions);
  return file;
}

/** An existing file belongs to an interrupted attempt, or to something else. @throws CommandError */
export function refuseOtherTime(path: string, header: Pick<OffloadHeader, 'before'>, before: Date): void {
  if (header.before.getTime() !== before.getTime())
    throw new CommandError(
      `${path} already exists, from an offload before ${header.before.toISOString()}: choose another name, or use that time to continue it`,
    );
}

export function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
