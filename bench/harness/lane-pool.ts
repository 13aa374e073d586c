import { Lane, readAnswer, type WireRequest } from './http-lanes.ts';

/** Kept connections to one server. A request takes a free one, else a new one; when there are enough, it waits. */
export class LanePool implements AsyncDisposable {
  readonly #target: Pick<WireRequest, 'host' | 'port'>;
  readonly #most: number;
  readonly #free: Lane[] = [];
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
    // Whoever is done hands its place on.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let lane: Lane | undefined;
    try {
      lane = this.#free.pop() ?? (await this.#open());
      const { status, body } = readAnswer(await lane.send(request));
      this.#free.push(lane);
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

  async #open(): Promise<Lane> {
    const lane = await Lane.open(this.#target);
    this.#all.add(lane);
    return lane;
  }
}
