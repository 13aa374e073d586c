import { now } from './statistics.ts';
import { Lane, readAnswer, type WireRequest } from './http-lanes.ts';

/** A lane that was idle for longer is closed instead of used: the server closes idle ones after some seconds. */
const LONGEST_IDLE_MS = 2_000;

interface Idle {
  readonly lane: Lane;
  readonly since: number;
}

/** Kept connections to one server. A request takes a free one, else a new one; when there are enough, it waits. */
export class LanePool implements AsyncDisposable {
  readonly #target: Pick<WireRequest, 'host' | 'port'>;
  readonly #most: number;
  readonly #free: Idle[] = [];
  readonly #all = new Set<Lane>();
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(url: string, most: number) {
    const { hostname, port } = new URL(url);
    this.#target = { host: hostname, port: Number(port) };
    this.#most = most;
  }

  /** The body of the answer. @throws Error when it is not an answer without errors. */
  async ask(request: WireRequest): Promise<string> {
    if (this.#taken < this.#most) this.#taken += 1;
    // A finished task hands its place on.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      const lane = this.#takeIdle() ?? (await this.#open());
      const { status, body } = readAnswer(await lane.send(request));
      this.#free.push({ lane, since: now() });
      if (status !== 200 || body.includes('"errors":'))
        throw new Error(`${String(status)} ${body.slice(0, 500)}`);
      return body;
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
