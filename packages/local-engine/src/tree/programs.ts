import { chmodSync, lstatSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Makes programs of the tree runnable where the tree is. They were linked for a newer C library than the host may
 * have, so each is run by the tree's own loader with the tree's own libraries. That takes neither chroot nor mounts
 * nor root, and it leaves the data folder where the user wants it. PostgreSQL finds its files by the path it was
 * called with, so a script of the program's own name takes its place, and initdb finds `postgres` beside itself.
 */
export function installPrograms(tree: string, programs: readonly string[]): void {
  if (programs.length === 0) return;
  const loader = findLoader(tree);
  const libraries = readdirSync(join(tree, 'usr/lib')).find((name) => /-linux-gnu\w*$/.test(name));
  if (libraries === undefined) throw new Error(`No library folder in ${tree}/usr/lib`);
  for (const program of programs) {
    const file = join(tree, program);
    renameSync(file, `${file}.elf`);
    writeFileSync(file, script(loader, `usr/lib/${libraries}`));
    chmodSync(file, 0o755);
  }
}

/** The cluster's locale comes with the tree too; the host's OpenSSL settings may name modules of another OpenSSL. */
function script(loader: string, libraries: string): string {
  return [
    '#!/bin/sh',
    'tree=${0%/usr/*}',
    `libs=$tree/${libraries}`,
    'export LOCPATH="$tree/usr/lib/locale" OPENSSL_CONF=/dev/null',
    'case $0 in */postgresql/*) own=:${0%/bin/*}/lib ;; *) own= ;; esac',
    `exec "$tree/${loader}" --inhibit-cache --library-path "$libs:$libs/blas:$libs/lapack$own" \\`,
    '  --argv0 "$0" "$0.elf" "$@"',
    '',
  ].join('\n');
}

function findLoader(tree: string): string {
  for (const folder of ['usr/lib64', 'usr/lib']) {
    const name = entries(join(tree, folder)).find((entry) => /^ld-linux-[\w-]+\.so\.\d+$/.test(entry));
    if (name !== undefined) return `${folder}/${name}`;
  }
  throw new Error(`No program loader in ${tree}`);
}

function entries(folder: string): readonly string[] {
  return lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true ? readdirSync(folder) : [];
}
