import { createRequire } from 'node:module';
import type { Duplex } from 'node:stream';
import { MongoNetworkError } from 'mongodb';

interface DriverConnection {
  writeCommand(command: object, options: object): Promise<void>;
}

/** Of the driver, which lets clients name a type of connections but does not export its own. */
const { Connection } = createRequire(import.meta.url)('mongodb/lib/cmap/connection.js') as {
  readonly Connection: new (socket: Duplex, options: object) => DriverConnection;
};

/**
 * A connection on which every command ends when the socket does, and in an error of the driver. The driver waits until a
 * socket that took no more has drained, and has two faults there:
 * - One that was destroyed, and is about to say so, takes nothing either and never drains. A command that is sent just
 *   then never ends, and where it is the driver's own look at the server, that is its last: whatever comes later fails
 *   until the process is started again.
 * - One that breaks meanwhile fails the command with the error of the socket as it is. Nothing is tried again for it, and
 *   nobody takes it for a lost connection.
 *
 * Both happen where many connections end at once, as when the server is killed.
 */
export class EndingConnection extends Connection {
  constructor(socket: Duplex, options: object) {
    super(socket, options);
    // The driver has heard of the end first: who waited goes on, and fails because the connection is closed.
    socket.once('close', () => socket.emit('drain'));
  }

  override async writeCommand(command: object, options: object): Promise<void> {
    try {
      await super.writeCommand(command, options);
    } catch (error) {
      throw isSocketError(error) ? new MongoNetworkError(error.message, { cause: error }) : error;
    }
  }
}

/** EPIPE, ECONNRESET, ERR_STREAM_DESTROYED and their like; those of the driver and of signals have no such code. */
function isSocketError(error: unknown): error is NodeJS.ErrnoException {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('E')
  );
}
