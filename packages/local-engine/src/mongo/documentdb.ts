import { join } from 'node:path';
import { EmbeddedError } from '../errors.ts';
import { GATEWAY_USER, keptPassword } from '../passwords.ts';
import { keepRunning, logFile } from '../launch.ts';
import type { Launch } from '../launch.ts';
import { nodeCommand } from '../process/node-command.ts';
import { readSince, sizeOf } from '../process/log-tail.ts';
import { startPostgres } from './postgres.ts';
import type { Postgres } from './postgres.ts';
import { GATEWAY_POOL_SIZE } from './postgres-settings.ts';

/** The folder of DocumentDB's data in DATA_DIR. */
export const DOCUMENTDB_FOLDER = 'documentdb';

/** Starts PostgreSQL with DocumentDB and the gateway that speaks MongoDB's protocol; gives back its URI. */
export async function startDocumentDb(launch: Launch, tree: string): Promise<string> {
  launch.onEvent({ step: 'start', message: 'Starting the local DocumentDB' });
  const postgres = await startPostgres(launch, tree, join(launch.dataDir, DOCUMENTDB_FOLDER));
  const password = keptPassword(launch.dataDir, 'gateway');
  const port = await startGateway(launch, postgres, password);
  return `mongodb://${GATEWAY_USER}:${password}@127.0.0.1:${port}/?directConnection=true`;
}

async function startGateway(
  launch: Launch,
  { port, password }: Postgres,
  ownPassword: string,
): Promise<number> {
  const options = {
    postgres: { host: '127.0.0.1', port, user: 'postgres', database: 'postgres' },
    host: '127.0.0.1',
    poolSize: GATEWAY_POOL_SIZE,
    user: GATEWAY_USER,
  };
  const log = logFile(launch, 'gateway');
  const from = sizeOf(log);
  const commandOn = (port: number) =>
    nodeCommand(new URL('../gateway/main.ts', import.meta.url), [JSON.stringify({ ...options, port })]);
  const service = await launch.keeper.start({
    name: 'gateway',
    ...commandOn(0),
    cwd: launch.dataDir,
    env: { PATH: launch.path, PGPASSWORD: password, GATEWAY_PASSWORD: ownPassword },
    log,
    stdout: 'lines',
    stopBy: 'eof',
    stopWithinMs: 2_000,
  });
  const line = await launch.keeper.hold(() => service.firstLine);
  const listening = line === null ? null : parsePort(line);
  if (listening === null) {
    await service.stop();
    const said = [line ?? '', readSince(log, from)].join('\n').trim();
    throw new EmbeddedError(
      'START_FAILED',
      `The gateway to the local DocumentDB did not start. It said:\n${said}`,
    );
  }
  // On the same port again, where its clients look for it.
  keepRunning(service, commandOn(listening).args, log, launch.onEvent);
  return listening;
}

function parsePort(line: string): number | null {
  try {
    const said = JSON.parse(line) as { readonly port?: unknown } | null;
    return typeof said?.port === 'number' ? said.port : null;
  } catch {
    return null;
  }
}
