import { statSync } from 'node:fs';
import { join } from 'node:path';
import { GATEWAY_USER } from '../passwords.ts';
import { writeOwnFile } from '../process/own-file.ts';
import { HERE } from '../process/service-user.ts';

export type Durability = 'durable' | 'fast';

/** Nothing listens on it; it is part of the socket's name. */
export const POSTGRES_PORT = 5432;
/** In the data folder: the passwords with which the extensions connect to their own server. */
export const PASSWORDS_FILE = 'passwords';

/** Connections of the gateway. More than a few per core only take turns; waiting for locks takes the rest. */
export const GATEWAY_POOL_SIZE = 24;

/**
 * Writes PostgreSQL's configuration into a data folder. It is ours alone and written at every start, so that a new
 * version's settings reach old data; anyone who wants others uses a database of their own.
 */
export function writeConfiguration(data: string, durability: Durability): void {
  const lines = Object.entries({ ...SHARED, ...(durability === 'fast' ? FAST : {}) });
  const text = lines.map(([name, value]) => `${name} = '${value}'\n`).join('');
  // PostgreSQL's own user where we are root, which writes nothing through what that user may have put there.
  const { uid } = statSync(data);
  writeOwnFile(join(data, 'postgresql.conf'), `# Written at every start.\n${text}`, uid);
  writeOwnFile(join(data, 'pg_hba.conf'), `# Written at every start.\n${ACCESS}`, uid);
}

/** The extension makes more roles that may log in; none of them has to. */
const ACCESS = `local postgres postgres,${GATEWAY_USER} scram-sha-256\n`;

// Full page writes stay on: without them the ordered indexes are corrupt after a backend was killed.
const FAST = { fsync: 'off', synchronous_commit: 'off' };

const SHARED: Readonly<Record<string, string | number>> = {
  // Nobody reaches the socket who cannot enter the data folder.
  listen_addresses: '',
  port: POSTGRES_PORT,
  unix_socket_directories: HERE,
  // The extensions connect to their own server, to build indexes and to run jobs.
  'documentdb.localhost_connection_string': `host=${HERE}`,
  'cron.host': HERE,
  shared_preload_libraries: 'pg_cron,pg_documentdb_core,pg_documentdb,pg_documentdb_extended_rum',
  // Only with this handler are sorted pages read in the order of an index.
  'documentdb.alternate_index_handler_name': 'extended_rum',
  // Each index knows which of its paths hold arrays, so a range on the others keeps its order; for all sessions.
  'documentdb.enableIndexMetadataGlobalTracking': 'on',
  // What cursors have left is in files; they must live as long as the gateway keeps an idle cursor.
  'documentdb.defaultCursorExpiryTimeLimitSeconds': 600,
  'cron.database_name': 'postgres',
  // A second way to run the index builds that pg_cron runs: two connections every two seconds, which find nothing to do.
  'documentdb.enableBackgroundWorkerJobs': 'off',
  // Index builds look for work every minute; a row and a line each time would fill the disk.
  'cron.log_run': 'off',
  'cron.log_statement': 'off',
  'cron.max_running_jobs': 5,
  // The statements here are short; a second is long to wait before a deadlock is looked for.
  deadlock_timeout: '50ms',
  max_connections: GATEWAY_POOL_SIZE + 24,
  // For a development machine of two cores that does other work too.
  shared_buffers: '256MB',
  effective_cache_size: '1GB',
  work_mem: '16MB',
  maintenance_work_mem: '128MB',
  random_page_cost: 1.1,
  jit: 'off',
  max_parallel_workers_per_gather: 0,
  huge_pages: 'off',
  // Nobody replicates from here, and less has to be logged then.
  wal_level: 'minimal',
  max_wal_senders: 0,
  // A file of the log that is used again would hold old contents until they are written over.
  wal_recycle: 'off',
  max_wal_size: '1GB',
  checkpoint_timeout: '15min',
  // The planner takes the right compound index only with statistics, so they must follow new data soon.
  autovacuum: 'on',
  autovacuum_naptime: '5s',
  autovacuum_analyze_threshold: 200,
  autovacuum_analyze_scale_factor: 0.1,
  // Not every host has time zone files.
  timezone: 'GMT',
  log_timezone: 'GMT',
  log_checkpoints: 'off',
  // Clients get their errors as answers. Details and statements, which may contain data, and warnings would only fill the disk.
  // Below `fatal`, which the log counts above its own notes: those repeat for hours.
  log_min_messages: 'fatal',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_line_prefix: '%m [%p] ',
};
