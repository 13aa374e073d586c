import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TreeRecipe } from '../../src/tree/recipe.ts';

const FAKE_SUITE = 'fake';

/** What the fake recipe's packages put into the tree. */
export const FAKE_FILES = ['usr/share/fanfare-one/data', 'usr/share/fanfare-two/data'];

/**
 * A Debian archive of three packages in a folder, and an apt configuration that has it as its mirror:
 * `fanfare-one` needs `fanfare-two` and `fanfare-ballast`, and the recipe assumes the last.
 */
export function makeFakeArchive(folder: string): { readonly aptFolder: string; readonly recipe: TreeRecipe } {
  const archive = join(folder, 'debian');
  const architecture = execFileSync('dpkg', ['--print-architecture'], { encoding: 'utf8' }).trim();
  const index = join('dists', FAKE_SUITE, 'main', `binary-${architecture}`);
  mkdirSync(join(archive, index), { recursive: true });
  const pack = (name: string, depends: string | null) => makePackage(archive, architecture, name, depends);
  const stanzas = [
    pack('fanfare-one', 'fanfare-two, fanfare-ballast'),
    pack('fanfare-two', null),
    pack('fanfare-ballast', null),
  ];
  const packages = stanzas.join('\n');
  writeFileSync(join(archive, index, 'Packages'), packages);
  const listed = join('main', `binary-${architecture}`, 'Packages');
  const release = [
    `Suite: ${FAKE_SUITE}`,
    `Codename: ${FAKE_SUITE}`,
    `Architectures: ${architecture}`,
    'Components: main',
    'SHA256:',
    ` ${sha256(packages)} ${Buffer.byteLength(packages)} ${listed}`,
  ];
  writeFileSync(join(archive, 'dists', FAKE_SUITE, 'Release'), `${release.join('\n')}\n`);
  const aptFolder = join(folder, 'etc-apt');
  mkdirSync(aptFolder, { recursive: true });
  writeFileSync(join(aptFolder, 'sources.list'), `deb [trusted=yes] file:${archive} testing main contrib\n`);
  const recipe: TreeRecipe = {
    version: 1,
    suite: FAKE_SUITE,
    packages: ['fanfare-one'],
    pins: {},
    assumed: ['fanfare-ballast'],
    programs: [],
    removed: ['usr/share/doc'],
    links: [['usr/share/fanfare-one/link', 'data']],
    cluster: false,
  };
  return { aptFolder, recipe };
}

/** A stand-in for dpkg-deb, in a folder to be put before PATH: writes `marker` and stays until it is killed. */
export function makeStuckUnpacker(folder: string, marker: string): string {
  const bin = join(folder, 'stuck');
  mkdirSync(bin);
  const file = join(bin, 'dpkg-deb');
  writeFileSync(file, `#!/bin/sh\necho half > "$3/half"\necho up > '${marker}'\nexec sleep 600\n`);
  chmodSync(file, 0o755);
  return bin;
}

/** Makes the package's file and gives back its entry for the index. */
function makePackage(archive: string, architecture: string, name: string, depends: string | null): string {
  const root = join(archive, 'build', name);
  mkdirSync(join(root, 'DEBIAN'), { recursive: true });
  for (const path of [`usr/share/${name}`, `usr/share/doc/${name}`]) {
    mkdirSync(join(root, path), { recursive: true });
    writeFileSync(join(root, path, 'data'), name);
  }
  const fields = [
    `Package: ${name}`,
    'Version: 1.0',
    `Architecture: ${architecture}`,
    'Maintainer: Fanfare',
    ...(depends === null ? [] : [`Depends: ${depends}`]),
    `Description: for tests`,
  ];
  writeFileSync(join(root, 'DEBIAN', 'control'), `${fields.join('\n')}\n`);
  const file = join('pool', `${name}_1.0_${architecture}.deb`);
  mkdirSync(join(archive, 'pool'), { recursive: true });
  execFileSync('dpkg-deb', ['--build', '--root-owner-group', root, join(archive, file)], { stdio: 'pipe' });
  const bytes = readFileSync(join(archive, file));
  return [...fields, `Filename: ${file}`, `Size: ${bytes.length}`, `SHA256: ${sha256(bytes)}`, ''].join('\n');
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
