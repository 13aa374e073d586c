import type { Duplex } from 'node:stream';
import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';
import { JsonMeter } from '../../lib/json-meter.ts';
import type { Caller } from '../identity/caller.ts';
import { maxBodyOf, type BodyUnderWay, type Intake } from '../limits/intake.ts';
import type { HttpLimits } from '../limits/limits.ts';

const MESSAGE_TOO_BIG = 1009;
const TRY_AGAIN_LATER = 1013;
/** Bytes beyond the largest message that may arrive before it is complete: its frames, and what follows it. */
const SLACK_BYTES = 64 * 1024;
/** Bytes of the head of a frame from a client, of one with more than 125 bytes, and of one with more than 65,535. */
const HEAD_BYTES = [6, 8, 14] as const;
/** How long a client may take to answer the close of its socket, in milliseconds; nothing more is read from it. */
const FAREWELL_MS = 1_000;

export interface SocketIntakeOptions {
  readonly socket: WebSocket;
  /** What the frames of the socket arrive on. */
  readonly stream: Duplex;
  readonly caller: () => Caller;
  readonly limits: HttpLimits;
  readonly intake: Intake;
}

/**
 * Bounds the messages of one socket by who sends them, which ws cannot: it knows one size for all. Closes the socket
 * with 1009 for a message that is too large, 4400 for one that holds too much, 1013 when there is no room for it now.
 */
export class SocketIntake {
  readonly #options: SocketIntakeOptions;
  /** Bytes of the message that is not complete, and of the heads of frames where one has come in many. */
  #pending = 0;
  /** Bytes that came together last. */
  #latest = 0;
  #underWay: BodyUnderWay | null = null;
  #isRefused = false;

  constructor(options: SocketIntakeOptions) {
    this.#options = options;
    const { socket, stream } = options;
    // Before ws, which hands out the messages of these bytes.
    stream.prependListener('data', (chunk: Buffer) => {
      this.#grow(chunk.length);
    });
    const onControl = (data: Buffer): void => {
      this.#pending = this.#without(data.length);
      this.#count();
    };
    socket.on('ping', onControl).on('pong', onControl);
    socket.once('close', () => {
      this.#underWay?.[Symbol.dispose]();
    });
  }

  /** A message that has come: what it counts as until it is disposed of. Null: it was refused. */
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
    // What is left of what came last is the beginning of the next.
    this.#pending = Math.min(this.#latest, this.#without(message.length));
    this.#count();
    return underWay;
  }

  /** Bytes have come, of a message or of several. */
  #grow(bytes: number): void {
    if (this.#isRefused) return;
    this.#latest = bytes;
    this.#pending += bytes;
    this.#count();
  }

  /** The bytes that are pending but for those of a frame that is complete. */
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
