import { connect } from 'node:net';

export interface WireRequest {
  readonly method?: string;
  readonly path?: string;
  /** In place of the usual ones; null: without it. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: string | Buffer;
  /** Sends the body in pieces, without its length. */
  readonly isChunked?: boolean;
  readonly version?: '1.0' | '1.1';
}

/** The bytes of a request, by default to be answered with JSON on a connection that is kept. */
export function wireBytes(request: WireRequest): Buffer {
  const { method = 'POST', path = '/graphql', body = '', isChunked = false, version = '1.1' } = request;
  const bytes = Buffer.from(body);
  const framing = isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(bytes.length) };
  const headers: Readonly<Record<string, string | null>> = {
    ...{ host: 'localhost', 'content-type': 'application/json', accept: 'application/json' },
    ...(method === 'POST' || bytes.length > 0 ? framing : {}),
    ...request.headers,
  };
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    value === null ? [] : [`${name}: ${value}`],
  );
  const head = Buffer.from(`${[`${method} ${path} HTTP/${version}`, ...lines].join('\r\n')}\r\n\r\n`);
  return Buffer.concat([head, isChunked ? chunked(bytes) : bytes]);
}

function chunked(bytes: Buffer): Buffer {
  const half = Math.ceil(bytes.length / 2);
  const chunks = [bytes.subarray(0, half), bytes.subarray(half)].filter(({ length }) => length > 0);
  const framed = chunks.flatMap((chunk) => [
    Buffer.from(`${chunk.length.toString(16)}\r\n`),
    chunk,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...framed, Buffer.from('0\r\n\r\n')]);
}

/** All that comes back until the server has closed the connection, or what has come is enough. */
export function exchange(
  url: string,
  bytes: Buffer,
  isEnough: (answer: string) => boolean = () => false,
): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
      if (isEnough(answer)) socket.destroy();
    });
    socket.on('error', reject).on('close', () => {
      resolve(answer);
    });
  });
}
