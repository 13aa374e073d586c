/** Takes one whole message: its type letter as a byte, and its body. */
export type OnMessage = (type: number, body: Buffer) => void;

const headerLength = 5;

/**
 * Cuts the byte stream of a PostgreSQL server into messages. A message inside one chunk is handed on as a slice
 * of it; one that spans chunks is collected once, into a buffer of its final size.
 */
export class MessageReader {
  readonly #onMessage: OnMessage;
  #rest: Buffer = Buffer.alloc(0);
  #big: Buffer | undefined;
  #filled = 0;

  constructor(onMessage: OnMessage) {
    this.#onMessage = onMessage;
  }

  push(chunk: Buffer): void {
    let at = 0;
    if (this.#big !== undefined) {
      at = chunk.copy(this.#big, this.#filled, 0, Math.min(chunk.length, this.#big.length - this.#filled));
      this.#filled += at;
      if (this.#filled < this.#big.length) return;
      const whole = this.#big;
      this.#big = undefined;
      this.#emit(whole, 0, whole.length);
    }
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk.subarray(at)]);
    if (this.#rest.length > 0) at = 0;
    this.#rest = Buffer.alloc(0);
    while (at + headerLength <= bytes.length) {
      const end = at + 1 + bytes.readInt32BE(at + 1);
      if (end > bytes.length) {
        this.#big = Buffer.allocUnsafeSlow(end - at);
        this.#filled = bytes.copy(this.#big, 0, at);
        return;
      }
      this.#emit(bytes, at, end);
      at = end;
    }
    this.#rest = bytes.subarray(at);
  }

  #emit(bytes: Buffer, start: number, end: number): void {
    this.#onMessage(bytes[start] ?? 0, bytes.subarray(start + headerLength, end));
  }
}
