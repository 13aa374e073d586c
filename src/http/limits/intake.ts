import { isTrusted } from '../../domain/viewer.ts';
import { holderOf, type Caller } from '../identity/auth.ts';
import { SHARE_OF_USER, type HttpLimits, Tally } from './limits.ts';
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { apiError, nobodyWaits } from '../../graphql/errors.ts';
import { JsonMeter, type JsonBounds } from '../../lib/json-meter.ts';
import type { GraphQLError } from 'graphql';
import { Answer, type AnswerRoom } from '../../graphql/rendering/answer.ts';
import { OnDispose } from '../../lib/closer.ts';
import { busy } from './request-lanes.ts';

/** A sum of bytes in memory, limited in total and per user. */
class Ledger {
  readonly #what: string;
  readonly #max: number;
  readonly #maxOfUser: number;
  readonly #tally = new Tally();

  /** @param what such as "large requests". */
  constructor(what: string, max: number, maxOfUser: number) {
    this.#what = what;
    this.#max = max;
    this.#maxOfUser = maxOfUser;
  }

  get bytes(): number {
    return this.#tally.total;
  }

  /** An error to reject more bytes with; `null` when there is room. */
  refusalOf(key: string | null, more: number): GraphQLError | null {
    if (more <= 0) return null;
    if (this.#tally.total + more > this.#max)
      return busy('UNAVAILABLE', `Too many ${this.#what} are in progress`);
    if (key !== null && this.#tally.of(key) + more > this.#maxOfUser)
      return busy('RATE_LIMITED', `Too many ${this.#what} of this user are in progress`);
    return null;
  }

  add(key: string | null, more: number): void {
    this.#tally.add(key, more);
  }
}

/** The part of a body or an answer that a ledger counts. */
interface Counted {
  readonly ledger: Ledger;
  readonly of: (bytes: number) => number;
}

/**
 * A body or an answer in memory, counted from its first byte until disposed. A class instead of an object of functions: an open
 * subscription keeps that of the message it began with.
 */
export class UnderWay implements AnswerRoom, Disposable {
  readonly #key: string | null;
  readonly #counted: readonly Counted[];
  /** `null`: disposed. */
  #bytes: number | null = 0;

  constructor(key: string | null, counted: readonly Counted[]) {
    this.#key = key;
    this.#counted = counted;
  }

  /** Reports its current size. Returns an error to reject it with; `null` when there is room. */
  resize(bytes: number): GraphQLError | null {
    const before = this.#bytes;
    // The client may have left while it was made.
    if (before === null) return null;
    for (const { ledger, of } of this.#counted) {
      const refusal = ledger.refusalOf(this.#key, of(bytes) - of(before));
      if (refusal !== null) return refusal;
    }
    for (const { ledger, of } of this.#counted) ledger.add(this.#key, of(bytes) - of(before));
    this.#bytes = bytes;
    return null;
  }

  [Symbol.dispose](): void {
    for (const { ledger, of } of this.#counted) ledger.add(this.#key, -of(this.#bytes ?? 0));
    this.#bytes = null;
  }
}

/** Smaller answers are given even while large ones use up the total. */
const SMALL_BYTES = 64 * 1024;

type AnswersLimits = Pick<HttpLimits, 'maxAnswerBytes' | 'maxAnswerValues' | 'maxAnswerBytesUnderWay'>;

/** Limits answers to queries and mutations, individually and in total, from their first value until they have been sent. */
export class Answers {
  readonly #limits: AnswersLimits;
  readonly #ledger: Ledger;
  readonly #counted: readonly Counted[];

  constructor(limits: AnswersLimits) {
    const { maxAnswerBytesUnderWay: total, maxAnswerBytes } = limits;
    this.#limits = limits;
    this.#ledger = new Ledger('large answers', total, Math.max(total * SHARE_OF_USER, maxAnswerBytes));
    this.#counted = [{ ledger: this.#ledger, of: (bytes) => Math.max(0, bytes - SMALL_BYTES) }];
  }

  /** Bytes of all answers, without small ones. */
  get bytes(): number {
    return this.#ledger.bytes;
  }

  open(caller: Caller): AnswerUnderWay {
    const taken = new UnderWay(holderOf(caller), this.#counted);
    const answer = new Answer(this.#limits, taken);
    const room = new OnDispose(() => {
      taken[Symbol.dispose]();
      // The client has left, or needs nothing more.
      answer.reading.end(nobodyWaits());
    });
    return { answer, room };
  }
}

interface AnswerUnderWay {
  readonly answer: Answer;
  /** Disposed when the answer has been sent, or nobody waits for it any more: then nothing more is read for it. */
  readonly room: Disposable;
}

interface ReadJsonOptions {
  readonly maxBytes: number;
  readonly bounds: JsonBounds;
  readonly underWay: UnderWay;
}

/**
 * Reads a body and parses it as a JSON object, the form of a GraphQL request. Rejects with BAD_USER_INPUT as soon as it
 * exceeds a limit on size, length or depth, and with UNAVAILABLE or RATE_LIMITED when there is no room for it now.
 */
export async function readJsonBody(req: IncomingMessage, options: ReadJsonOptions): Promise<object> {
  const bytes = await readBytes(req, options);
  const isLarge = bytes.length > LARGE_BYTES;
  if (isLarge) await nextTurn();
  if (!isUtf8(bytes)) throw apiError('BAD_USER_INPUT', 'The body is not UTF-8');
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString());
  } catch {
    throw apiError('BAD_USER_INPUT', 'The body is not JSON');
  }
  if (typeof body !== 'object' || body === null || Object.keys(body).length === 0)
    throw apiError('BAD_USER_INPUT', 'The body must be a JSON object with the property "query"');
  // Yoga would take the body for a promise, and wait for it.
  if ('then' in body) throw apiError('BAD_USER_INPUT', 'Unexpected parameter "then" in the request body.');
  if (isLarge) await nextTurn();
  return body;
}

/** Bytes still received and discarded: many clients read the answer only after sending everything. */
const MAX_DISCARDED = 16 * 1024 * 1024;

function readBytes(req: IncomingMessage, options: ReadJsonOptions): Promise<Buffer> {
  const { maxBytes, bounds, underWay } = options;
  // A client may leave before its body is read, and a closed request emits nothing more.
  if (req.destroyed) return Promise.reject(incomplete());
  const announced = Number(req.headers['content-length'] ?? 0);
  const refusal =
    announced > maxBytes ? tooLarge(maxBytes, announced > MAX_DISCARDED) : underWay.resize(announced);
  if (refusal !== null) return Promise.reject(refusal);
  return new Promise((resolve, reject) => {
    const meter = new JsonMeter(bounds);
    const chunks: Buffer[] = [];
    let size = 0;
    function stop(): void {
      req.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
    }
    function refusalOf(chunk: Buffer): Error | null {
      if (size > maxBytes) return tooLarge(maxBytes, true);
      const fault = meter.read(chunk);
      if (fault !== null) return apiError('BAD_USER_INPUT', fault);
      return size > announced ? underWay.resize(size) : null;
    }
    function onData(chunk: Buffer): void {
      size += chunk.length;
      const refusal = refusalOf(chunk);
      if (refusal === null) {
        chunks.push(chunk);
        return;
      }
      stop();
      req.resume();
      reject(refusal);
    }
    function onEnd(): void {
      stop();
      resolve(Buffer.concat(chunks, size));
    }
    function onBroken(): void {
      stop();
      reject(incomplete());
    }
    req.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
  });
}

function incomplete(): Error {
  return apiError('BAD_USER_INPUT', 'The body is incomplete');
}

function tooLarge(maxBytes: number, isLast: boolean): Error {
  return apiError('BAD_USER_INPUT', `The body is larger than ${String(maxBytes)} bytes`, {
    status: 413,
    ...(isLast && { headers: { connection: 'close' } }),
  });
}

/** First bytes of each body, counted separately, so that small requests are answered while large ones wait. */
const FIRST_BYTES = 16 * 1024;
/** Minimum allowance for the first bytes of all bodies, however little is allowed for large ones. */
const MIN_FIRST_BYTES_UNDER_WAY = 16 * 1024 * 1024;
/** Larger bodies are parsed and examined in separate turns of the event loop. */
export const LARGE_BYTES = 64 * 1024;

export type BodyLimits = Pick<
  HttpLimits,
  'maxBodyBytes' | 'maxUserBodyBytes' | 'maxAnonymousBodyBytes' | 'maxBodyBytesUnderWay'
>;

/** Maximum size of a caller's body or message, in bytes. */
export function maxBodyOf({ identity }: Caller, limits: BodyLimits): number {
  if (identity !== null && isTrusted(identity)) return limits.maxBodyBytes;
  return Math.min(
    limits.maxBodyBytes,
    identity === null ? limits.maxAnonymousBodyBytes : limits.maxUserBodyBytes,
  );
}

/** Limits bodies in flight, individually and in total: otherwise a few clients could fill the memory. */
export class Intake {
  readonly #rest: Ledger;
  readonly #counted: readonly Counted[];

  constructor({ maxBodyBytesUnderWay: total, maxUserBodyBytes }: BodyLimits) {
    const first = Math.max(total, MIN_FIRST_BYTES_UNDER_WAY);
    const small = new Ledger('small requests', first, first * SHARE_OF_USER);
    this.#rest = new Ledger('large requests', total, Math.max(total * SHARE_OF_USER, maxUserBodyBytes));
    this.#counted = [
      { ledger: small, of: (bytes) => Math.min(bytes, FIRST_BYTES) },
      { ledger: this.#rest, of: (bytes) => Math.max(0, bytes - FIRST_BYTES) },
    ];
  }

  /** Bytes in flight, without the first ones of each body. */
  get bytes(): number {
    return this.#rest.bytes;
  }

  /** @param caller services and admins are limited by the total only */
  open(caller: Caller): UnderWay {
    return new UnderWay(holderOf(caller), this.#counted);
  }
}
