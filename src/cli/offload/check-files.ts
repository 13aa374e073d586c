import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import { refusalOfFile } from '../../services/lifecycle/restore-actions.ts';
import { CommandError } from '../context.ts';
import { checkOffloadFile, type CheckedFile, type OffloadHeader } from './offload-file.ts';

// What can be said of a file without a database: none is started for one that is of no use.

interface Checked {
  /** Whether ids stand behind their tenant here. */
  readonly hasTenants: boolean;
  readonly onProgress: (fraction: number, actions: number) => void;
}

/** @throws CommandError where it is not as it was written, or of no use here. */
export async function checkRestorable(
  path: string,
  { hasTenants, onProgress }: Checked,
): Promise<CheckedFile> {
  const file = await read(path, onProgress);
  const refusal = refusalOfFile(file.header, hasTenants);
  if (refusal !== null) throw new CommandError(`${path} cannot be restored. ${refusal}`);
  return file;
}

/** @throws CommandError where what is older than `before` cannot be written there, or is not what the file has. */
export async function checkTarget(
  path: string,
  before: Date,
  { hasTenants, onProgress }: Checked,
): Promise<void> {
  if (await isThere(path)) {
    const { header } = await read(path, onProgress);
    refuseOtherTime(path, header, before);
    const refusal = refusalOfFile(header, hasTenants);
    if (refusal !== null) throw new CommandError(`${path} is there already. ${refusal}`);
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

/** A file that is there is one of an attempt that was cut off, or of another. @throws CommandError */
export function refuseOtherTime(path: string, header: Pick<OffloadHeader, 'before'>, before: Date): void {
  if (header.before.getTime() !== before.getTime())
    throw new CommandError(
      `${path} is there already, and has what is older than ${header.before.toISOString()}: choose another name, or that time to go on with it`,
    );
}

export function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
