import type { Duplex } from 'node:stream';
import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';
import { JsonMeter } from '../../lib/json-meter.ts';
import type { Caller } from '../identity/caller.ts';
import type { Connections } from '../limits/connections.ts';
import { maxBodyOf, type BodyUnderWay, type Intake } from '../limits/intake.ts';
import type { HttpLimits } from '../limits/limits.ts';

const MESSAGE_TOO_BIG = 1009;
const TRY_AGAIN_LATER = 1013;
/** Extra bytes that may arrive with the largest message: its frame headers, and what follows it. */
const SLACK_BYTES = 64 * 1024;
/** Sizes of a client's frame header: up to 125 bytes, more than 125, and more than 65,535. */
const HEAD_BYTES = [6, 8, 14] as const;
/** How long a client may take to answer the close of its socket, in milliseconds; nothing more is read from it. */
const FAREWELL_MS = 1_000;

export interface SocketIntakeOptions {
  readonly socket: WebSocket;
  /** The stream on which the socket's frames arrive. */
  readonly stream: Duplex;
  readonly caller: () => Caller;
  readonly limits: HttpLimits;
  readonly intake: Intake;
  readonly connections: Connections;
}

/**
 * Limits the messages of one socket by their sender, whereas ws has one limit for all. Closes the socket with 1009 for a
 * message that is too large, 4400 for one with too many values, 1013 when there is no room for it now.
 */
export class SocketIntake {
  readonly #options: SocketIntakeOptions;
  /** Bytes of the incomplete message, including frame headers if it has several. */
  #pending = 0;
  /** Bytes of the last chunk. */
  #latest = 0;
  #underWay: BodyUnderWay | null = null;
  #isRefused = false;

  constructor(options: SocketIntakeOptions) {
    this.#options = options;
    const { socket, stream, connections } = options;
    // Runs before ws, which emits the messages in these bytes.
    stream.prependListener('data', (chunk: Buffer) => {
      this.#grow(chunk.length);
      // Each message has an answer, and each ping: a client that sends without reading is noticed here.
      connections.wrote(stream);
    });
    const onControl = (data: Buffer): void => {
      this.#pending = this.#without(data.length);
      this.#count();
    };
    socket.on('ping', onControl).on('pong', onControl);
    socket.on('close', () => {
      this.#underWay?.[Symbol.dispose]();
    });
  }

  /** Accounts for a complete message until disposed. `null`: rejected. */
  take(message: Buffer): BodyUnderWay | null {
    if (this.#isRefused) return null;
    const { caller, limits, intake } = this.#options;
    const underWay = (this.#underWay ??= intake.open(caller()));
    if (!this.#hasRoom(message.length, maxBodyOf(caller(), limits))) return null;
    const fault = new JsonMeter(limits.json).read(message);
    if (fault !== null) {
      this.#refuse(CloseCode.BadRequest, fault);
      return null;
    }
    this.#underWay = null;
    // The rest of the last chunk belongs to the next message.
    this.#pending = Math.min(this.#latest, this.#without(message.length));
    this.#count();
    return underWay;
  }

  /** Bytes of one or several messages have arrived. */
  #grow(bytes: number): void {
    if (this.#isRefused) return;
    this.#latest = bytes;
    this.#pending += bytes;
    this.#count();
  }

  /** Pending bytes without those of a complete frame. */
  #without(bytes: number): number {
    const head = HEAD_BYTES[bytes < 126 ? 0 : bytes < 65_536 ? 1 : 2];
    return Math.max(0, this.#pending - head - bytes);
  }

  #count(): void {
    if (this.#isRefused) return;
    if (this.#pending === 0) {
      this.#underWay?.[Symbol.dispose]();
      this.#underWay = null;
      return;
    }
    const { caller, limits, intake } = this.#options;
    this.#underWay ??= intake.open(caller());
    this.#hasRoom(this.#pending, maxBodyOf(caller(), limits) + SLACK_BYTES);
  }

  #hasRoom(bytes: number, maxBytes: number): boolean {
    if (bytes > maxBytes) this.#refuse(MESSAGE_TOO_BIG, 'The message is too large');
    else {
      const refusal = this.#underWay?.resize(bytes) ?? null;
      if (refusal !== null) this.#refuse(TRY_AGAIN_LATER, refusal.message);
    }
    return !this.#isRefused;
  }

  #refuse(code: number, reason: string): void {
    const { socket } = this.#options;
    this.#isRefused = true;
    socket.close(code, reason);
    socket.pause();
    setTimeout(() => {
      socket.terminate();
    }, FAREWELL_MS).unref();
  }
}
