import type { ServerResponse, IncomingMessage } from 'node:http';

export type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void> | void;

export const GRAPHQL_PATH = '/graphql';

export function requestPath({ url = '/' }: IncomingMessage): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

export function readOnly(handler: Handler): Handler {
  return (req, res) => {
    if (req.method === 'GET' || req.method === 'HEAD') return handler(req, res);
    sendJson(res, 405, { error: 'Method not allowed' }, { allow: 'GET, HEAD' });
  };
}

export function sendJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  send(res, status, JSON.stringify(body), { 'content-type': 'application/json; charset=utf-8', ...headers });
}

export function send(
  res: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>>,
): void {
  if (res.destroyed || res.headersSent) return;
  res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  res.end(body);
}

/** Whether the client has this one already, by the weak comparison of RFC 9110. @param given its `if-none-match` */
export function isKnown(given: string | undefined, etag: string): boolean {
  const bare = (one: string): string => one.trim().replace(/^W\//, '');
  return given?.split(',').some((one) => ['*', bare(etag)].includes(bare(one))) ?? false;
}

function headersOf(response: Response): Record<string, string> {
  const headers: Record<string, string> = {};
  response.headers.forEach((value, name) => {
    headers[name.toLowerCase()] = value;
  });
  return headers;
}

export function isStream(response: Response): boolean {
  return /^(?:text\/event-stream|multipart\/)/.test(response.headers.get('content-type') ?? '');
}

export async function sendResponse(res: ServerResponse, response: Response): Promise<void> {
  send(res, response.status, await response.text(), headersOf(response));
}

/**
 * Sends a streaming response no faster than the client reads. Resolves when the stream has ended or the response was closed;
 * nothing reads the stream after that.
 */
export async function sendStream(res: ServerResponse, response: Response): Promise<void> {
  const chunks = response.body?.[Symbol.asyncIterator]();
  if (chunks === undefined) {
    res.end();
    return;
  }
  // Start reading here: Yoga's streams cannot be cancelled before they have started.
  let next = chunks.next();
  // `return` ends the stream even while a chunk is awaited; that chunk then fails, see below.
  const leave = (): void => {
    chunks.return?.().catch(() => undefined);
  };
  res.once('close', leave);
  if (res.destroyed) leave();
  else res.writeHead(response.status, headersOf(response)).flushHeaders();
  try {
    for (;;) {
      const chunk = await next;
      if (chunk.done === true || res.destroyed || res.writableEnded) break;
      if (!res.write(chunk.value)) await drainedOrClosed(res);
      next = chunks.next();
    }
  } catch (error) {
    if (!res.closed && !res.destroyed) throw error;
  } finally {
    res.off('close', leave);
    leave();
    res.end();
  }
}

export function drainedOrClosed(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    function done(): void {
      res.off('drain', done).off('close', done);
      resolve();
    }
    res.on('drain', done).on('close', done);
  });
}
