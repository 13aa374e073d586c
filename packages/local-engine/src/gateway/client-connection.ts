import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { CommandContext } from './context.ts';
import { dispatch } from './dispatch.ts';
import { FrameReader } from './wire/frames.ts';
import { replyHead } from './wire/reply.ts';
import { readRequest } from './wire/request.ts';

/** How long a client may take over the rest of a message it has begun, in milliseconds. */
const halfMessageMs = 60_000;
/** Beyond so many bytes of messages that wait for their turn no more is read from the client. */
const readAhead = 256 * 1024;
/** The longest message of a client that has not logged in. */
const maxLoginBytes = 16 * 1024;

type ClientContext = Omit<CommandContext, 'clientLeft'>;

/** Serves a client until it leaves or its connection has to be ended. */
export function serveClient(socket: Socket, context: ClientContext): void {
  new ClientConnection(socket, context).start();
}

/**
 * One client. Its messages are served one after the other, so that pipelined ones are answered in order. A malformed
 * message, or a broken connection to PostgreSQL, ends this client's connection and nothing else. When the client
 * leaves, what it waits for is cancelled if it only reads.
 */
class ClientConnection {
  readonly #socket: Socket;
  readonly #context: CommandContext;
  readonly #frames = new FrameReader();
  readonly #waiting: Buffer[] = [];
  readonly #left = new AbortController();
  #waitingBytes = 0;
  #isServing = false;
  #replies = 0;

  constructor(socket: Socket, context: ClientContext) {
    this.#socket = socket;
    this.#context = { ...context, clientLeft: this.#left.signal };
  }

  start(): void {
    const leave = (): void => {
      this.#left.abort();
      this.#socket.destroy();
    };
    this.#socket.on('data', (chunk: Buffer) => {
      this.#receive(chunk);
    });
    for (const event of ['timeout', 'error', 'end', 'close']) this.#socket.on(event, leave);
  }

  #receive(chunk: Buffer): void {
    try {
      const limit = this.#context.login.isDone ? undefined : maxLoginBytes;
      for (const message of this.#frames.push(chunk, limit)) {
        this.#waiting.push(message);
        this.#waitingBytes += message.length;
      }
    } catch {
      // What was whole before the fault is not served either: the client has lost its senses.
      this.#socket.destroy();
      return;
    }
    this.#socket.setTimeout(this.#frames.isHalfway ? halfMessageMs : 0);
    if (this.#waitingBytes > readAhead) this.#socket.pause();
    if (!this.#isServing) void this.#serve();
  }

  async #serve(): Promise<void> {
    this.#isServing = true;
    try {
      for (let message = this.#waiting.shift(); message !== undefined; message = this.#waiting.shift()) {
        await this.#answer(message);
        this.#waitingBytes -= message.length;
        if (this.#waitingBytes <= readAhead && this.#socket.isPaused()) this.#socket.resume();
      }
    } catch {
      // A message that is none, or a command whose fate is unknown: a broken connection says both.
      this.#socket.destroy();
    } finally {
      this.#isServing = false;
    }
  }

  async #answer(message: Buffer): Promise<void> {
    if (this.#hasLeft()) return;
    const request = readRequest(message);
    const reply = await dispatch(request, this.#context);
    if (!request.wantsReply || this.#hasLeft()) return;
    this.#replies += 1;
    this.#socket.cork();
    this.#socket.write(replyHead(request, reply.length, this.#replies));
    const isTaken = this.#socket.write(reply);
    this.#socket.uncork();
    if (!isTaken) await this.#drained();
  }

  #hasLeft(): boolean {
    return this.#socket.destroyed;
  }

  /** Resolves when the client has taken what waits for it, or has left. */
  async #drained(): Promise<void> {
    try {
      await once(this.#socket, 'drain', { signal: this.#left.signal });
    } catch (error) {
      if (!this.#left.signal.aborted) throw error;
    }
  }
}
