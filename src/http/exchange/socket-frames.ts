import type { Duplex } from 'node:stream';
import type { ExecutionResult } from 'graphql';
import type { WebSocket } from 'ws';
import { toByteText } from '../../lib/byte-text.ts';

type ResultStream = AsyncGenerator<ExecutionResult, void, void>;

/** Upper bound on bytes gathered before they are sent. */
const MOST_GATHERED = 65_536;
/** First byte of a frame that contains a complete text message. */
const TEXT = 0x81;
/** Maximum lengths that fit into the second byte of a frame, and into the two bytes after it. */
const MOST_SHORT = 125;
const MOST_MIDDLE = 65_535;
const IN_TWO = 126;
const IN_EIGHT = 127;

/**
 * Writes text messages directly to a socket, several times as fast as ws, which encodes each message separately and
 * allocates a buffer for its header. Messages that are ready together are sent in one system call.
 */
export class SocketWriter {
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  #gathered = '';
  #underWay = 0;
  #onSent: (() => void)[] = [];
  readonly #sent = (): void => {
    this.#underWay -= 1;
    if (this.#underWay > 0) return;
    const waiting = this.#onSent;
    this.#onSent = [];
    for (const resolve of waiting) resolve();
  };
  readonly #release = (): void => this.release();

  constructor({ socket, stream }: { readonly socket: WebSocket; readonly stream: Duplex }) {
    this.#socket = socket;
    this.#stream = stream;
  }

  /**
   * Resolves when the message has been sent, so that a stream is read no faster than its client reads. Usually it has been
   * sent at once.
   * @param bytes UTF-8, one character per byte.
   * @param isFollowed another message is written before anything is awaited.
   */
  write(bytes: string, isFollowed: boolean): Promise<void> | 'sent' {
    const socket = this.#socket;
    if (socket.readyState !== socket.OPEN) return 'sent';
    // In case no other message follows after all.
    if (isFollowed && this.#gathered === '') process.nextTick(this.#release);
    this.#gathered += headOf(bytes.length) + bytes;
    if (isFollowed && this.#gathered.length < MOST_GATHERED && socket.bufferedAmount === 0) return 'sent';
    this.release();
    if (socket.bufferedAmount === 0) return 'sent';
    return new Promise((resolve) => this.#onSent.push(resolve));
  }

  /** Sends the gathered messages. Called before anything else is sent. */
  release(): void {
    const bytes = this.#gathered;
    if (bytes === '') return;
    this.#gathered = '';
    const socket = this.#socket;
    // Nothing may follow a close frame.
    if (socket.readyState !== socket.OPEN) return;
    this.#underWay += 1;
    this.#stream.write(bytes, 'latin1', this.#sent);
  }
}

/** The header of a frame; servers do not mask. */
function headOf(length: number): string {
  if (length <= MOST_SHORT) return String.fromCharCode(TEXT, length);
  if (length <= MOST_MIDDLE) return String.fromCharCode(TEXT, IN_TWO, length >>> 8, length & 0xff);
  const bytes = Buffer.alloc(10);
  bytes.writeUInt8(TEXT, 0);
  bytes.writeUInt8(IN_EIGHT, 1);
  bytes.writeBigUInt64BE(BigInt(length), 2);
  return bytes.toString('latin1');
}

/** Sends serialised events of a subscription. */
export class SocketFrames {
  readonly #writer: SocketWriter;
  readonly #head: string;
  #stream: ResultStream | null = null;

  /** @param id of the subscription. */
  constructor(writer: SocketWriter, id: string) {
    this.#writer = writer;
    this.#head = toByteText(`{"id":${JSON.stringify(id)},"type":"next","payload":`);
  }

  /** Sets the stream of results that is sent, with its errors as clients may see them. */
  carry(stream: ResultStream): void {
    this.#stream = stream;
  }

  /** Takes the stream; `null`: there is none. */
  takeStream(): ResultStream | null {
    const stream = this.#stream;
    this.#stream = null;
    return stream;
  }

  /**
   * Resolves when the event has been sent.
   * @param result JSON in UTF-8, one character per byte.
   */
  send(result: string, isFollowed: boolean): Promise<void> | 'sent' {
    return this.#writer.write(`${this.#head}${result}}`, isFollowed);
  }
}
