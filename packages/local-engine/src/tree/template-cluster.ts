import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeConfiguration } from '../mongo/postgres-settings.ts';
import { asServiceUser, diesWithParent } from '../process/guarded-command.ts';
import { runCommand } from '../process/run-command.ts';
import { SERVICE_UIDS, giveTo } from '../process/service-user.ts';
import { POSTGRES_BIN } from './recipe.ts';
import { ownFolder } from '../process/own-file.ts';

/** Where a new cluster lies in the tree: `data`, and `password`, that of its user `postgres`. */
export const TEMPLATE = 'template';

/** Debian's `nobody`. Without a server both programs want to know their user's name, and we may not add a user to the host. */
const NAMED_UID = 65534;

const LAST_EXTENSION = 'documentdb_extended_rum';
/** With `-j` a statement ends at an empty line. */
const SETUP = [
  'CREATE EXTENSION documentdb CASCADE;',
  `CREATE EXTENSION ${LAST_EXTENSION};`,
  `SELECT 'made ' || extname AS outcome FROM pg_extension WHERE extname = '${LAST_EXTENSION}';`,
  '',
].join('\n\n');

/**
 * Makes an empty database cluster with the extensions in the tree. New data folders are copies of it, which saves a
 * second at every first start; and if this works, so does the tree.
 */
export async function makeTemplateCluster(tree: string, path: string): Promise<void> {
  const folder = join(tree, TEMPLATE);
  const data = join(folder, 'data');
  const passwordFile = join(folder, 'password');
  mkdirSync(data, { recursive: true, mode: 0o700 });
  ownFolder(folder, 0o700);
  writeFileSync(passwordFile, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
  await giveTo(NAMED_UID, folder, path);
  const run = (program: string, args: readonly string[], input = '') => {
    const command = diesWithParent({ command: join(tree, POSTGRES_BIN, program), args }, 'KILL', path);
    return runCommand(asServiceUser(command, NAMED_UID, path), { env: { PATH: path }, cwd: folder, input });
  };
  const auth = ['-A', 'scram-sha-256', '--pwfile', passwordFile, '-U', 'postgres'];
  await run('initdb', ['-D', data, ...auth, '--locale=C.UTF-8', '--encoding=UTF8', '--no-sync']);
  writeConfiguration(data, 'fast');
  // A server without a socket: nothing can reach the cluster while it is made.
  const output = await run('postgres', ['--single', '-j', '-D', data, 'postgres'], SETUP);
  if (!output.includes(`made ${LAST_EXTENSION}`)) {
    throw new Error(`The extensions could not be created in a new cluster: ${output.slice(-2_000)}`);
  }
  await giveTo(SERVICE_UIDS.postgres, folder, path);
}
