import { connect, type Socket } from 'node:net';
import { Lane, readAnswer, type WireRequest } from './http-lanes.ts';
import { now } from './statistics.ts';

export interface PipelineOptions {
  readonly count: number;
  readonly connections: number;
  /** Requests under way on each connection. */
  readonly depth: number;
}

/** The H of HTTP/1.1, and the 2 of a status like 200. */
const FIRST_BYTE = 0x48;
const GOOD_STATUS = 0x32;
const STATUS_AT = 9;

/**
 * Sends one request over and over, several at a time on each connection, and only counts what comes back: a client that takes
 * as little of the machine as a client can. All answers must be as long as the first.
 * @returns milliseconds of all.
 */
export async function pipeline(request: WireRequest, options: PipelineOptions): Promise<number> {
  const { count, connections, depth } = options;
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(request)));
  try {
    const length = await lengthOf(request);
    let left = count;
    const take = (most: number): number => {
      const some = Math.min(left, most);
      left -= some;
      return some;
    };
    const from = now();
    await Promise.all(sockets.map((socket) => keepBusy(socket, { request, length, depth, take })));
    return now() - from;
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

interface Work {
  readonly request: WireRequest;
  /** Bytes of an answer. */
  readonly length: number;
  readonly depth: number;
  /** How many of so many are still to be sent. */
  readonly take: (most: number) => number;
}

function keepBusy(socket: Socket, { request: { bytes }, length, depth, take }: Work): Promise<void> {
  const batches = Array.from({ length: depth + 1 }, (_, size) =>
    Buffer.concat(Array.from({ length: size }, () => bytes)),
  );
  return new Promise((resolve, reject) => {
    let open = 0;
    /** Bytes of the answer that is coming in. */
    let begun = 0;
    const send = (most: number): void => {
      const some = take(most);
      open += some;
      if (some > 0) socket.write(batches[some] ?? Buffer.alloc(0));
      else if (open === 0) resolve();
    };
    socket.on('data', (data) => {
      let answers = 0;
      let at = 0;
      while (at < data.length) {
        const statusAt = at + STATUS_AT - begun;
        if (
          (begun === 0 && data[at] !== FIRST_BYTE) ||
          (begun <= STATUS_AT && statusAt < data.length && data[statusAt] !== GOOD_STATUS)
        ) {
          reject(new Error(`Refused, or not as long as the first: ${data.toString('latin1', at, at + 500)}`));
          return;
        }
        const step = Math.min(length - begun, data.length - at);
        at += step;
        begun += step;
        if (begun < length) continue;
        begun = 0;
        answers += 1;
      }
      open -= answers;
      if (answers > 0) send(answers);
    });
    socket.on('error', reject);
    socket.on('close', () => {
      reject(new Error('The connection was closed'));
    });
    send(depth);
  });
}

async function lengthOf(request: WireRequest): Promise<number> {
  await using lane = await Lane.open(request);
  const answer = await lane.send(request);
  const { status, body } = readAnswer(answer);
  if (status !== 200 || body.includes('"errors":'))
    throw new Error(`${String(status)} ${body.slice(0, 500)}`);
  return answer.length;
}

function open({ host, port }: WireRequest): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host, () => {
      socket.off('error', reject);
      socket.setNoDelay(true);
      resolve(socket);
    });
    socket.once('error', reject);
  });
}
