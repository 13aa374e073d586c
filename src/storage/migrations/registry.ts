import { groupKeysMigration } from './group-keys.ts';
import { hiddenItemsMigration } from './hidden-items.ts';
import { interactionKeys } from './interaction-keys.ts';
import type { Migration } from './migration.ts';
import { publicationsMigration } from './publications.ts';
import { revisionsMigration } from './revisions.ts';
import { stampsMigration } from './stamps.ts';
import { tenantGroupsMigration } from './tenant-groups.ts';

/** All migrations in order of version. A released migration is never changed. */
export const MIGRATIONS: readonly Migration[] = [
  interactionKeys,
  hiddenItemsMigration,
  groupKeysMigration,
  revisionsMigration,
  stampsMigration,
  publicationsMigration,
  tenantGroupsMigration,
];

/** The schema version that a process with these migrations writes. */
export function latestVersion(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}
