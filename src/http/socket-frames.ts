import type { WebSocket } from 'ws';

/** Sends events of a subscription as they were written; the protocol would write them once more. */
export class SocketFrames {
  readonly #socket: WebSocket;
  readonly #head: string;
  #underWay = 0;
  #onSent: (() => void) | null = null;
  readonly #sent = (): void => {
    this.#underWay -= 1;
    if (this.#underWay > 0) return;
    this.#onSent?.();
    this.#onSent = null;
  };

  /** @param id of the subscription. */
  constructor(socket: WebSocket, id: string) {
    this.#socket = socket;
    this.#head = `{"id":${JSON.stringify(id)},"type":"next","payload":`;
  }

  /** Resolves when the frame has left, so that a stream is read no faster than its client reads; nearly always it has at once. */
  send(result: string): Promise<void> | 'sent' {
    const socket = this.#socket;
    if (socket.readyState !== socket.OPEN) return 'sent';
    this.#underWay += 1;
    socket.send(`${this.#head}${result}}`, this.#sent);
    if (socket.bufferedAmount === 0) return 'sent';
    return new Promise((resolve) => {
      this.#onSent = resolve;
    });
  }
}
