import type { IncomingMessage } from 'node:http';
import { apiError } from '../graphql/errors.ts';

/**
 * Reads a body and parses it as the JSON object that a GraphQL request is. Rejects with BAD_USER_INPUT, for a body
 * above `maxBytes` as soon as that shows.
 */
export async function readJsonBody(req: IncomingMessage, maxBytes: number): Promise<object> {
  const text = await readText(req, maxBytes);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw apiError('BAD_USER_INPUT', 'The body is not JSON');
  }
  if (typeof body !== 'object' || body === null || Object.keys(body).length === 0)
    throw apiError('BAD_USER_INPUT', 'The body must be a JSON object with the property "query"');
  return body;
}

function readText(req: IncomingMessage, maxBytes: number): Promise<string> {
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLarge(maxBytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    function stop(): void {
      req.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
    }
    function onData(chunk: Buffer): void {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else {
        stop();
        req.pause();
        reject(tooLarge(maxBytes));
      }
    }
    function onEnd(): void {
      stop();
      resolve(Buffer.concat(chunks, size).toString());
    }
    function onBroken(): void {
      stop();
      reject(apiError('BAD_USER_INPUT', 'The body broke off'));
    }
    req.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
  });
}

function tooLarge(maxBytes: number): Error {
  return apiError('BAD_USER_INPUT', `The body is larger than ${String(maxBytes)} bytes`, {
    status: 413,
    headers: { connection: 'close' },
  });
}
