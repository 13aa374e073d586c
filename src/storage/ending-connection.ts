import { createRequire } from 'node:module';
import type { Duplex } from 'node:stream';

/** Of the driver, which lets clients name a type of connections but does not export its own. */
const { Connection } = createRequire(import.meta.url)('mongodb/lib/cmap/connection.js') as {
  readonly Connection: new (socket: Duplex, options: object) => object;
};

/**
 * A connection on which every command ends when the socket does. The driver waits until a socket that took no more has
 * drained; one that was destroyed, and is about to say so, takes nothing either and never drains. A command that is sent
 * just then never ends, and where it is the driver's own look at the server, that is its last: whatever comes later fails
 * until the process is started again. It happens where many connections end at once, as when the server is killed.
 */
export class EndingConnection extends Connection {
  constructor(socket: Duplex, options: object) {
    super(socket, options);
    // The driver has heard of the end first: who waited goes on, and fails because the connection is closed.
    socket.once('close', () => socket.emit('drain'));
  }
}
