import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import type { Duplex } from 'node:stream';
import { MongoNetworkError } from 'mongodb';

interface DriverConnection {
  writeCommand(command: object, options: object): Promise<void>;
  destroy(): void;
}

interface ConnectionOptions {
  /** Emits `cancel` when the connections of its owner are closed. */
  readonly cancellationToken?: EventEmitter;
}

/** The driver accepts a connection class from clients but does not export its own. */
const { Connection } = createRequire(import.meta.url)('mongodb/lib/cmap/connection.js') as {
  readonly Connection: new (socket: Duplex, options: ConnectionOptions) => DriverConnection;
};

/**
 * A connection on which every command ends when the socket does, with an error of the driver. When a socket's buffer is
 * full, the driver waits for it to drain, which has two bugs:
 * - A destroyed socket that has not emitted `close` yet never drains. A command sent at that moment never ends. If it is the
 * driver's
 *   own heartbeat, it is the last one, and all later operations fail until the process is restarted.
 * - A socket that breaks while draining fails the command with the raw socket error, which is neither retried nor recognised
 * as a lost
 *   connection.
 *
 * Both occur when many connections end at once, for example when the server is killed.
 *
 * Neither does closing a client end a connection whose handshake is not answered: its socket would keep the process alive for
 * another half a minute.
 */
export class EndingConnection extends Connection {
  constructor(socket: Duplex, options: ConnectionOptions) {
    super(socket, options);
    const { cancellationToken } = options;
    const end = (): void => {
      this.destroy();
    };
    cancellationToken?.once('cancel', end);
    // The driver's own listener ran first: waiting commands continue and fail because the connection is closed.
    socket.once('close', () => {
      cancellationToken?.off('cancel', end);
      socket.emit('drain');
    });
  }

  override async writeCommand(command: object, options: object): Promise<void> {
    try {
      await super.writeCommand(command, options);
    } catch (error) {
      throw isSocketError(error) ? new MongoNetworkError(error.message, { cause: error }) : error;
    }
  }
}

/** EPIPE, ECONNRESET, ERR_STREAM_DESTROYED and the like; errors of the driver and of aborts have no such code. */
function isSocketError(error: unknown): error is NodeJS.ErrnoException {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('E')
  );
}
