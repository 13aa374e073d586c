import { createHash } from 'node:crypto';
import { PINNED_PACKAGES } from './pinned-packages.ts';

/** What a tree is made of. The default is `DOCUMENTDB_RECIPE`; tests use small ones. */
export interface TreeRecipe {
  /** Raised when the way a tree is put together changes. */
  readonly version: number;
  /** The Debian suite the packages come from. */
  readonly suite: string;
  readonly packages: readonly string[];
  /** SHA-256 of packages by file name; see `checkPackages`. */
  readonly pins: Readonly<Record<string, string>>;
  /** Packages that count as installed, so that neither they nor what only they need is fetched. */
  readonly assumed: readonly string[];
  /** Programs to be run from the tree, as paths in it. */
  readonly programs: readonly string[];
  /** Paths that can go once everything is unpacked. */
  readonly removed: readonly string[];
  /** Symbolic links the packages' scripts would make, which nobody runs: `[path, target]`. */
  readonly links: readonly (readonly [string, string])[];
  /** Whether to make a new database cluster in the tree, which is also the proof that the tree works. */
  readonly cluster: boolean;
}

export const POSTGRES_MAJOR = '18';
export const POSTGRES_BIN = `usr/lib/postgresql/${POSTGRES_MAJOR}/bin`;

/**
 * PostgreSQL with the DocumentDB extension, and Valkey. No package scripts are run, and no program of Debian's base
 * system, so that is left out; so is what only PostGIS raster and SFCGAL need (GDAL and its hundred codecs), of which
 * DocumentDB uses nothing. That makes it 85 packages of 216. A name that no longer exists does no harm here.
 */
export const DOCUMENTDB_RECIPE: TreeRecipe = {
  version: 1,
  suite: 'forky',
  packages: [
    'libc-bin',
    `postgresql-${POSTGRES_MAJOR}-documentdb`,
    `postgresql-${POSTGRES_MAJOR}-postgis-3-scripts`,
    'valkey-server',
  ],
  pins: PINNED_PACKAGES,
  assumed: [
    ...['libgdal39', 'libsfcgal2', 'proj-bin'],
    ...[
      'postgresql-common',
      'postgresql-client-common',
      'ssl-cert',
      'openssl',
      'openssl-provider-legacy',
      'locales',
    ],
    ...[
      'perl',
      'perl-base',
      'libjson-perl',
      'debconf',
      'ucf',
      'adduser',
      'passwd',
      'base-passwd',
      'debianutils',
    ],
    ...['base-files', 'coreutils', 'dash', 'mawk', 'util-linux', 'procps', 'tzdata', 'netbase', 'lsb-base'],
    ...[
      'systemd',
      'init-system-helpers',
      'sysvinit-utils',
      'libsystemd-shared',
      'sensible-utils',
      'readline-common',
    ],
    ...['libpam-runtime', 'libpam-modules', 'libpam-modules-bin', 'libldap-common', 'krb5-locales'],
  ],
  programs: [
    `${POSTGRES_BIN}/postgres`,
    `${POSTGRES_BIN}/initdb`,
    `${POSTGRES_BIN}/psql`,
    'usr/bin/valkey-server',
  ],
  removed: [
    ...['usr/share/doc', 'usr/share/man', 'usr/share/locale', 'usr/share/lintian'],
    `usr/lib/postgresql/${POSTGRES_MAJOR}/lib/bitcode`,
  ],
  links: [[`usr/share/postgresql/${POSTGRES_MAJOR}/extension/postgis.control`, 'postgis-3.control']],
  cluster: true,
};

/** The name of the tree's folder in the cache: another recipe, suite, package or architecture is another tree. */
export function treeName(recipe: TreeRecipe, architecture: string): string {
  const content = JSON.stringify([recipe, architecture]);
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 12);
  return `documentdb-${recipe.suite}-${architecture}-${digest}`;
}
