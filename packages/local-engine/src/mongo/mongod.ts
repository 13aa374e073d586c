import { connect } from 'node:net';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { EmbeddedError, reasonOf } from '../errors.ts';
import type { KeptService } from '../keeper-client.ts';
import { keepRunning, logFile } from '../launch.ts';
import type { Launch } from '../launch.ts';
import { asServiceUser, diesWithParent } from '../process/guarded-command.ts';
import { readSince, sizeOf } from '../process/log-tail.ts';
import { serviceFolder } from '../process/service-folder.ts';
import { HERE, SERVICE_UIDS } from '../process/service-user.ts';
import { waitUntil } from '../process/wait-until.ts';

/** The folder of mongod's data in DATA_DIR. */
export const MONGOD_FOLDER = 'mongod';

const START_WITHIN_MS = 60_000;
const SOCKET = 'mongod.sock';

/**
 * Starts a mongod with its data in DATA_DIR, on a socket in its folder; gives back its URI. It has no users, so the folder
 * alone keeps others out.
 */
export async function startMongod(launch: Launch, binary: string): Promise<string> {
  launch.onEvent({ step: 'start', message: `Starting ${binary}` });
  const data = join(launch.dataDir, MONGOD_FOLDER);
  await serviceFolder(data, SERVICE_UIDS.mongod, launch);
  const log = logFile(launch, 'mongod');
  // An address with a slash is a socket. The other option turns off the socket that it makes in /tmp on its own.
  const address = ['--bind_ip', `./${SOCKET}`, '--nounixsocket', '--filePermissions', '0700'];
  const guarded = diesWithParent(
    { command: binary, args: ['--dbpath', HERE, ...address, '--quiet'] },
    'TERM',
    launch.path,
  );
  const from = sizeOf(log);
  const service = await launch.keeper.start({
    name: 'mongod',
    ...asServiceUser(guarded, SERVICE_UIDS.mongod, launch.path),
    cwd: data,
    env: { PATH: launch.path },
    log,
    stdout: 'log',
    stopBy: 'SIGTERM',
    stopWithinMs: 8_000,
  });
  const socket = join(launch.shortDataDir, MONGOD_FOLDER, SOCKET);
  const uri = `mongodb://${encodeURIComponent(socket)}/?directConnection=true`;
  if (await isUp(service, socket, uri)) {
    keepRunning(service, log, launch.onEvent);
    return uri;
  }
  await service.stop();
  throw new EmbeddedError(
    'START_FAILED',
    `${binary} did not start. Its log (${log}) ends with:\n${readSince(log, from)}`,
  );
}

async function isUp(service: KeptService, path: string, uri: string): Promise<boolean> {
  const state = { ended: false };
  void service.exited.then(() => (state.ended = true));
  const listens = await waitUntil(async () => state.ended || (await accepts(path)), START_WITHIN_MS);
  if (!listens || state.ended) return false;
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: START_WITHIN_MS });
  try {
    await client.db('admin').command({ ping: 1 });
    return true;
  } catch (error) {
    throw new EmbeddedError('START_FAILED', `The local mongod does not answer: ${reasonOf(error)}`, {
      cause: error,
    });
  } finally {
    await client.close();
  }
}

function accepts(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const finish = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', () => {
      finish(true);
    });
    socket.once('error', () => {
      finish(false);
    });
  });
}
