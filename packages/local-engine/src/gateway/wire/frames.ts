/** The bytes on a client's connection are not MongoDB messages; nothing more can be made of it. */
export class WireFault extends Error {
  override readonly name = 'WireFault';
}

/** MongoDB's limit for one message, in bytes. */
export const maxMessageBytes = 48_000_000;
/** Drivers may pass the limit by the envelope of a full message; nothing bigger is ever collected. */
const maxFrameBytes = maxMessageBytes + 64 * 1024;
const headerLength = 16;

/**
 * Cuts a client's byte stream into messages. Only bytes that have arrived are buffered, so a header that claims much
 * costs nothing, and one that claims more than the limit is refused at once.
 */
export class FrameReader {
  #chunks: Buffer[] = [];
  #size = 0;
  #needed = headerLength;

  /** True while part of a message has arrived and the rest has not. */
  get isHalfway(): boolean {
    return this.#size > 0;
  }

  /** Takes a chunk, gives the messages that are now whole. Throws WireFault on a length beyond `limit`, or none. */
  push(chunk: Buffer, limit = maxFrameBytes): Buffer[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#needed) return [];
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#size);
    const messages: Buffer[] = [];
    let at = 0;
    this.#needed = headerLength;
    while (at + headerLength <= bytes.length) {
      const length = bytes.readInt32LE(at);
      if (length < headerLength || length > limit) {
        throw new WireFault(`A message claims ${String(length)} bytes`);
      }
      if (at + length > bytes.length) {
        this.#needed = length;
        break;
      }
      messages.push(bytes.subarray(at, at + length));
      at += length;
    }
    this.#chunks = at === bytes.length ? [] : [bytes.subarray(at)];
    this.#size = bytes.length - at;
    return messages;
  }
}
