import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedError } from '../errors.ts';
import type { PostgresAddress } from '../gateway/postgres/connection.ts';
import { GATEWAY_USER, newPassword } from '../passwords.ts';
import { keepRunning, logFile } from '../launch.ts';
import type { Launch } from '../launch.ts';
import { nodeCommand } from '../process/node-command.ts';
import { readSince, sizeOf } from '../process/log-tail.ts';
import { startPostgres } from './postgres.ts';
import { GATEWAY_POOL_SIZE } from './postgres-settings.ts';

/** The folder of DocumentDB's data in DATA_DIR. */
export const DOCUMENTDB_FOLDER = 'documentdb';
const GATEWAY_FOLDER = 'gateway';
const SOCKET = 'mongodb.sock';

/** Starts PostgreSQL with DocumentDB and the gateway that speaks MongoDB's protocol; gives back its URI. */
export async function startDocumentDb(launch: Launch, tree: string): Promise<string> {
  launch.onEvent({ step: 'start', message: 'Starting the local DocumentDB' });
  const postgres = await startPostgres(launch, tree, DOCUMENTDB_FOLDER);
  const password = newPassword();
  const socket = join(launch.shortDataDir, GATEWAY_FOLDER, SOCKET);
  await startGateway(launch, postgres, { socket, password });
  return `mongodb://${GATEWAY_USER}:${password}@${encodeURIComponent(socket)}/?directConnection=true`;
}

async function startGateway(
  launch: Launch,
  { password, ...postgres }: PostgresAddress & { readonly password: string },
  own: { readonly socket: string; readonly password: string },
): Promise<void> {
  // A new folder: a way into an older one does not lead into this.
  const folder = join(launch.dataDir, GATEWAY_FOLDER);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  const options = { postgres, socket: own.socket, poolSize: GATEWAY_POOL_SIZE, user: GATEWAY_USER };
  const log = logFile(launch, 'gateway');
  const from = sizeOf(log);
  const service = await launch.keeper.start({
    name: 'gateway',
    ...nodeCommand(new URL('../gateway/main.ts', import.meta.url), [JSON.stringify(options)]),
    cwd: launch.dataDir,
    env: { PATH: launch.path, PGPASSWORD: password, GATEWAY_PASSWORD: own.password },
    log,
    stdout: 'lines',
    stopBy: 'eof',
    stopWithinMs: 2_000,
  });
  const line = await launch.keeper.hold(() => service.firstLine);
  if (line !== null) {
    keepRunning(service, log, launch.onEvent);
    return;
  }
  await service.stop();
  throw new EmbeddedError(
    'START_FAILED',
    `The gateway to the local DocumentDB did not start. It said:\n${readSince(log, from)}`,
  );
}
