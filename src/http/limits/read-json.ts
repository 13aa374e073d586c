import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { apiError } from '../../graphql/errors.ts';
import { JsonMeter, type JsonBounds } from '../../lib/json-meter.ts';
import { LARGE_BYTES, type BodyUnderWay } from './intake.ts';

export interface ReadJsonOptions {
  readonly maxBytes: number;
  readonly bounds: JsonBounds;
  readonly underWay: BodyUnderWay;
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
