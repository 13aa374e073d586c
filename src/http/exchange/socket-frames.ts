import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/** Characters that gather at most before they leave. */
const MOST_GATHERED = 65_536;

/** Sends events of a subscription as they were written. Those that are ready together leave by one call of the system. */
export class SocketFrames {
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  readonly #head: string;
  #underWay = 0;
  /** Null: the next frame leaves at once. */
  #gathered: number | null = null;
  #onSent: (() => void) | null = null;
  readonly #sent = (): void => {
    this.#underWay -= 1;
    if (this.#underWay > 0) return;
    this.#onSent?.();
    this.#onSent = null;
  };
  readonly #release = (): void => {
    if (this.#gathered === null) return;
    this.#gathered = null;
    this.#stream.uncork();
  };

  /** @param id of the subscription. */
  constructor({ socket, stream }: { readonly socket: WebSocket; readonly stream: Duplex }, id: string) {
    this.#socket = socket;
    this.#stream = stream;
    this.#head = `{"id":${JSON.stringify(id)},"type":"next","payload":`;
  }

  /**
   * Resolves when the frame has left, so that a stream is read no faster than its client reads; nearly always it has at once.
   * @param isFollowed another one is sent before anything is waited for.
   */
  send(result: string, isFollowed: boolean): Promise<void> | 'sent' {
    const socket = this.#socket;
    if (socket.readyState !== socket.OPEN) return 'sent';
    if (isFollowed && this.#gathered === null && socket.bufferedAmount === 0) this.#gather();
    this.#underWay += 1;
    socket.send(`${this.#head}${result}}`, this.#sent);
    if (this.#gathered !== null) {
      this.#gathered += result.length;
      if (isFollowed && this.#gathered < MOST_GATHERED) return 'sent';
      this.#release();
    }
    if (socket.bufferedAmount === 0) return 'sent';
    return new Promise((resolve) => {
      this.#onSent = resolve;
    });
  }

  #gather(): void {
    this.#gathered = 0;
    this.#stream.cork();
    // Where the next one does not come after all.
    process.nextTick(this.#release);
  }
}
