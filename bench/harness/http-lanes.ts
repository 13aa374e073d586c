import { connect, type Socket } from 'node:net';
import { now, timed } from './statistics.ts';

/** A request as it goes over the wire, made once. */
export interface WireRequest {
  readonly host: string;
  readonly port: number;
  readonly bytes: Buffer;
}

export function graphqlRequest(
  url: string,
  token: string | null,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
): WireRequest {
  const { hostname, port } = new URL(url);
  const body = JSON.stringify({ query, variables });
  const head = [
    'POST /graphql HTTP/1.1',
    `host: ${hostname}:${port}`,
    'content-type: application/json',
    'accept: application/graphql-response+json, application/json',
    ...(token === null ? [] : [`authorization: Bearer ${token}`]),
    `content-length: ${String(Buffer.byteLength(body))}`,
    '',
    '',
  ].join('\r\n');
  return { host: hostname, port: Number(port), bytes: Buffer.from(head + body) };
}

/** One kept connection, one request at a time. It does as little as possible, for it shares the machine. */
export class Lane implements Disposable {
  readonly #socket: Socket;
  #chunks: Buffer[] = [];
  #length = 0;
  #expected: number | null = null;
  #waiting: { resolve(answer: Buffer): void; reject(error: Error): void } | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (data) => {
      this.#take(data);
    });
    const fail = (error?: unknown): void => {
      const reason = error instanceof Error ? error : new Error('The connection was closed');
      this.#waiting?.reject(reason);
      this.#waiting = null;
    };
    socket.on('error', fail);
    socket.on('close', fail);
  }

  static open({ host, port }: Pick<WireRequest, 'host' | 'port'>): Promise<Lane> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, host, () => {
        socket.off('error', reject);
        resolve(new Lane(socket));
      });
      socket.once('error', reject);
    });
  }

  /** Sends and waits for the whole answer, which has to be one with a length. */
  send({ bytes }: WireRequest): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (!this.#socket.writable) {
        reject(new Error('The connection was closed'));
        return;
      }
      this.#waiting = { resolve, reject };
      this.#socket.write(bytes);
    });
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #take(data: Buffer): void {
    this.#chunks.push(data);
    this.#length += data.length;
    this.#expected ??= expectedLength(this.#chunks);
    if (this.#expected === null || this.#length < this.#expected) return;
    const answer = Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#length = 0;
    this.#expected = null;
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve(answer);
  }
}

function expectedLength(chunks: readonly Buffer[]): number | null {
  const text = Buffer.concat(chunks);
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [, length] = /\r\ncontent-length: *(\d+)/i.exec(text.toString('latin1', 0, end)) ?? [];
  if (length === undefined) throw new Error('An answer came without its length');
  return end + 4 + Number(length);
}

export function readAnswer(bytes: Buffer): { readonly status: number; readonly body: string } {
  const text = bytes.toString();
  const end = text.indexOf('\r\n\r\n');
  return { status: Number(text.slice(9, 12)), body: text.slice(end + 4) };
}

/** A lane that was idle for longer is closed instead of used: the server closes idle ones after some seconds. */
const LONGEST_IDLE_MS = 2_000;

/** The first digit of the status of an answer that is none of a refusal. */
const TWO = 0x32;

/** Kept connections to one server. A request takes a free one, else a new one; when there are enough, it waits. */
export class LanePool implements AsyncDisposable {
  readonly #target: Pick<WireRequest, 'host' | 'port'>;
  readonly #most: number;
  readonly #free: { readonly lane: Lane; readonly since: number }[] = [];
  readonly #all = new Set<Lane>();
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(url: string, most: number) {
    const { hostname, port } = new URL(url);
    this.#target = { host: hostname, port: Number(port) };
    this.#most = most;
  }

  /** The body of the answer. @throws Error as `send`. */
  async ask(request: WireRequest): Promise<string> {
    return readAnswer(await this.send(request)).body;
  }

  /** The whole answer. @throws Error when it is not an answer without errors. */
  async send(request: WireRequest): Promise<Buffer> {
    if (this.#taken < this.#most) this.#taken += 1;
    // A finished task hands its place on.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      const lane = this.#takeIdle() ?? (await this.#open());
      const answer = await lane.send(request);
      this.#free.push({ lane, since: now() });
      if (answer[9] !== TWO || answer.includes('"errors":'))
        throw new Error(`Refused: ${answer.toString('utf8', 0, 1_000)}`);
      return answer;
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#taken -= 1;
      else next();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    for (const lane of this.#all) lane[Symbol.dispose]();
    return Promise.resolve();
  }

  /** The one used last, so that the others grow old together. */
  #takeIdle(): Lane | null {
    const latest = this.#free.pop();
    if (latest === undefined) return null;
    if (now() - latest.since <= LONGEST_IDLE_MS) return latest.lane;
    for (const { lane } of [latest, ...this.#free.splice(0)]) {
      lane[Symbol.dispose]();
      this.#all.delete(lane);
    }
    return null;
  }

  async #open(): Promise<Lane> {
    const lane = await Lane.open(this.#target);
    this.#all.add(lane);
    return lane;
  }
}

/** Sends so many requests, these in turn, so many at a time; milliseconds of each, and of all. */
export async function hammer(
  requests: WireRequest | readonly WireRequest[],
  { count, concurrency }: { readonly count: number; readonly concurrency: number },
): Promise<{ readonly latencies: readonly number[]; readonly total: number }> {
  const all = [requests].flat();
  const [first] = all;
  if (first === undefined) throw new Error('There is nothing to ask for');
  await using pool = new LanePool(`http://${first.host}:${String(first.port)}`, concurrency);
  const latencies: number[] = [];
  let sent = 0;
  const ask = async (): Promise<void> => {
    while (sent < count) {
      const request = all[sent++ % all.length] ?? first;
      latencies.push(await timed(() => pool.send(request)));
    }
  };
  const total = await timed(() => Promise.all(Array.from({ length: concurrency }, ask)));
  return { latencies, total };
}
