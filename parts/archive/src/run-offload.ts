import { setTimeout as delay } from 'node:timers/promises';
import type { Archive } from './store/offloads.ts';
import {
  claimOffloaded,
  purgeOffloaded,
  readDocumentShape,
  readLeaving,
  readOffloadable,
  takeOut,
} from './offload-actions.ts';
import { restoreActions, type BroughtBack } from './restore-actions.ts';
import { NewFile } from '../../../src/lib/own-file.ts';
import { CommandError, operatorOf } from '../../../src/cli/context.ts';
import { isThere, refuseOtherTime } from './check-files.ts';
import { checkOffloadFile, readOffloadFile, writeOffloadFile, type CheckedFile } from './offload-file.ts';

export interface OffloadRun {
  readonly core: Archive;
  readonly path: string;
  /** The unfinished file, which an interrupted run discards. */
  readonly file?: NewFile;
  /** By the database's clock. */
  readonly now: () => Date;
  /** @param fraction `null`: unknown */
  readonly onProgress: (step: string, fraction: number | null, actions: number) => void;
  /** Whether no other process runs, so that no request can have seen an action before it was claimed. Default: others run. */
  readonly isAlone?: () => Promise<boolean>;
  /** Called while waiting for workers. An error it throws ends the run. */
  readonly onWaiting?: () => Promise<unknown>;
}

export interface OffloadOutcome {
  readonly written: number;
  /** Of these, the run has moved `taken`, and earlier runs that were interrupted have moved `earlier`. */
  readonly taken: number;
  readonly earlier: number;
  /** Changed since they were written to the file. */
  readonly left: number;
  /** Failed withdrawals from feeds. */
  readonly failed: number;
}

const OPERATOR = operatorOf('offload');

/** Maximum duration of a request, which may have seen an action before it was claimed. Milliseconds. */
export const GRACE_MS = 30_000;
const POLL_MS = 100;

/**
 * Offloads actions older than a time. An existing file belongs to an interrupted attempt, which is continued. Nothing is
 * removed before the file has been read back from disk to its end.
 */
export async function runOffload(
  run: OffloadRun,
  { before, graceMs = GRACE_MS }: { readonly before: Date; readonly graceMs?: number },
): Promise<OffloadOutcome> {
  const { core, path, file = new NewFile(path), now, onProgress, onWaiting } = run;
  if (before > now())
    throw new CommandError(`${before.toISOString()} is in the future, so the file could not be complete`);
  const shape = await readDocumentShape(core, OPERATOR);
  const isContinued = await isThere(path);
  if (!isContinued) {
    const head = { ...shape, before, readAt: now() };
    const written = await writeOffloadFile(
      file,
      head,
      (after) => readOffloadable(core, OPERATOR, { before, after }),
      (actions) => {
        onProgress('Writing', null, actions);
      },
    );
    if (written === 0) return { written, taken: 0, earlier: 0, left: 0, failed: 0 };
  }
  const { header, actions: written } = await checkOffloadFile(path);
  refuseOtherTime(path, header, before);
  const chunks = (step: string) =>
    readOffloadFile(path, (done) => {
      onProgress(step, done / written, done);
    });
  await claimOffloaded(core, OPERATOR, header.id, chunks('Claiming'));
  // A process that starts from now on sees the claims.
  if ((await run.isAlone?.()) !== true) await delay(graceMs);
  const offload = { id: header.id, isContinued };
  const outcome = await takeOut(core, OPERATOR, offload, chunks('Comparing'));
  for (;;) {
    const { open, failed } = await readLeaving(core, OPERATOR, header.id);
    onProgress('Removing', 1 - open / written, written - open);
    if (open > 0) {
      await onWaiting?.();
      await delay(POLL_MS);
      continue;
    }
    await purgeOffloaded(core, OPERATOR, header.id);
    return { written, ...outcome, failed };
  }
}

/** Restores the contents of a file, which is first read to its end unless that was already done. */
export async function runRestore(
  { core, path, onProgress }: Pick<OffloadRun, 'core' | 'path' | 'onProgress'>,
  checked?: CheckedFile,
): Promise<BroughtBack> {
  const { header, actions } = checked ?? (await checkOffloadFile(path));
  return restoreActions(
    core,
    OPERATOR,
    header,
    readOffloadFile(path, (done) => {
      onProgress('Restoring', done / actions, done);
    }),
  );
}
