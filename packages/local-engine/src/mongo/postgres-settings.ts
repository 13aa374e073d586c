import { statSync } from 'node:fs';
import { join } from 'node:path';
import { writeOwnFile } from '../process/own-file.ts';

export type Durability = 'durable' | 'fast';

export interface PostgresSettings {
  readonly port: number;
  /** `fast` gives up what a power cut or a crash of the machine would need; for tests. */
  readonly durability: Durability;
}

/** Connections of the gateway. More than a few per core only take turns; waiting for locks takes the rest. */
export const GATEWAY_POOL_SIZE = 24;

/**
 * Writes PostgreSQL's configuration into a data folder. It is ours alone and written at every start, so that a new
 * version's settings reach old data; anyone who wants others uses a database of their own.
 */
export function writeConfiguration(data: string, settings: PostgresSettings): void {
  const lines = Object.entries({ ...shared(settings), ...(settings.durability === 'fast' ? FAST : {}) });
  const text = lines.map(([name, value]) => `${name} = '${value}'\n`).join('');
  // PostgreSQL's own user where we are root, which writes nothing through what that user may have put there.
  const { uid } = statSync(data);
  writeOwnFile(join(data, 'postgresql.conf'), `# Written at every start.\n${text}`, uid);
  writeOwnFile(join(data, 'pg_hba.conf'), `# Written at every start.\n${ACCESS}`, uid);
}

/** The password also protects the host: the server may pass folders that other users may not (see asServiceUser). */
const ACCESS = 'host all all 127.0.0.1/32 scram-sha-256\n';

// Full page writes stay on: without them the ordered indexes are corrupt after a backend was killed.
const FAST = { fsync: 'off', synchronous_commit: 'off' };

function shared({ port }: PostgresSettings): Readonly<Record<string, string | number>> {
  return {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    // The extension connects to its own server to build indexes; `localhost` may be another address first.
    'documentdb.localhost_connection_string': 'host=127.0.0.1',
    'cron.host': '127.0.0.1',
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
    log_line_prefix: '%m [%p] ',
  };
}
