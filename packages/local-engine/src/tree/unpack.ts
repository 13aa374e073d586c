import { mkdirSync } from 'node:fs';
import { basename } from 'node:path';
import type { OnEmbeddedEvent } from '../events.ts';
import { needExecutable } from '../process/executables.ts';
import { diesWithParent } from '../process/guarded-command.ts';
import { runCommand } from '../process/run-command.ts';

/** dpkg-deb is bound by decompression, and a development machine has at least two cores. */
const AT_ONCE = 2;

/** Unpacks packages into a folder, without running anything of theirs. */
export async function unpackPackages(
  archives: readonly string[],
  folder: string,
  path: string,
  onEvent: OnEmbeddedEvent,
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  // base-files holds the links that merge /bin into /usr; in a tree without them the first /bin would be a folder.
  const [first, rest] = split(archives, (archive) => basename(archive).startsWith('base-files_'));
  let done = 0;
  const unpack = async (archive: string) => {
    const command = { command: needExecutable('dpkg-deb', path), args: ['-x', archive, folder] };
    await runCommand(diesWithParent(command, 'KILL', path));
    done++;
    onEvent({
      step: 'unpack',
      message: 'Unpacking the local database engine',
      fraction: done / archives.length,
    });
  };
  for (const archive of first) await unpack(archive);
  const queue = [...rest];
  const worker = async () => {
    for (let archive = queue.shift(); archive !== undefined; archive = queue.shift()) await unpack(archive);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function split<T>(items: readonly T[], test: (item: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}
