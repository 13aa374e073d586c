/** How much JSON may hold, whatever it means. */
export interface JsonBounds {
  /** Lists and objects within each other. */
  readonly maxDepth: number;
  /** Entries of one list, properties of one object. */
  readonly maxEntries: number;
  /** Values in all; an empty list or object counts as two. */
  readonly maxValues: number;
  /** Bytes of one text as it is written, escapes included. */
  readonly maxTextBytes: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** So many bytes of a text are looked at one by one, which for most texts is all; beyond them it is searched. */
const SHORT_BYTES = 32;

/** Searches for what may end a text. Remembers what it has found, so that no byte is searched more than once for each. */
class TextEnds {
  readonly #bytes: Buffer;
  #quote = -1;
  #backslash = -1;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Where the next quote or backslash is, from a place on that is never before an earlier one. */
  next(from: number): number {
    if (this.#quote < from) this.#quote = this.#find(QUOTE, from);
    if (this.#backslash < from) this.#backslash = this.#find(BACKSLASH, from);
    return Math.min(this.#quote, this.#backslash);
  }

  #find(byte: number, from: number): number {
    const found = this.#bytes.indexOf(byte, from);
    return found === -1 ? this.#bytes.length : found;
  }
}

/** Measures JSON as its bytes arrive, before a parser would build what breaks a bound. It does not check syntax. */
export class JsonMeter {
  readonly #bounds: JsonBounds;
  /** Commas seen in each list or object that is open. */
  readonly #commas: Uint32Array;
  #depth = 0;
  #values = 1;
  #isText = false;
  #isEscaped = false;
  #textBytes = 0;

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds;
    this.#commas = new Uint32Array(bounds.maxDepth + 1);
  }

  /** Reads on. The first bound that is broken, in words; null while all hold. */
  read(bytes: Buffer): string | null {
    const { length } = bytes;
    const ends = new TextEnds(bytes);
    let at = 0;
    while (at < length) {
      if (this.#isText) {
        at = this.#readText(bytes, at, ends);
        if (this.#textBytes > this.#bounds.maxTextBytes)
          return `A text in the JSON is longer than ${String(this.#bounds.maxTextBytes)} bytes`;
      } else {
        const fault = this.#readMark(bytes[at] ?? 0);
        if (fault !== null) return fault;
        at += 1;
      }
    }
    return null;
  }

  /** Reads to the end of the text, or of the bytes. Returns where it stopped. */
  #readText(bytes: Buffer, start: number, ends: TextEnds): number {
    // No further than to what is too long.
    const end = Math.min(bytes.length, start + this.#bounds.maxTextBytes - this.#textBytes + 1);
    let isEscaped = this.#isEscaped;
    let at = start;
    let looked = 0;
    for (; at < end; at += 1) {
      const byte = bytes[at];
      if (isEscaped) isEscaped = false;
      else if (byte === BACKSLASH) isEscaped = true;
      else if (byte === QUOTE) break;
      else if ((looked += 1) === SHORT_BYTES) {
        looked = 0;
        // Less one for the loop.
        at = Math.min(ends.next(at + 1), end) - 1;
      }
    }
    this.#isEscaped = isEscaped;
    this.#textBytes += at - start;
    if (at === end) return at;
    this.#isText = false;
    return at + 1;
  }

  #readMark(byte: number): string | null {
    switch (byte) {
      case QUOTE:
        this.#isText = true;
        this.#textBytes = 0;
        return null;
      case COMMA:
        return this.#countEntry();
      case OPEN_LIST:
      case OPEN_OBJECT:
        return this.#open();
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        if (this.#depth > 0) this.#depth -= 1;
        return null;
      default:
        return null;
    }
  }

  #open(): string | null {
    const { maxDepth } = this.#bounds;
    this.#depth += 1;
    if (this.#depth > maxDepth) return `The JSON is nested more than ${String(maxDepth)} levels deep`;
    this.#commas[this.#depth] = 0;
    return this.#countValue();
  }

  #countEntry(): string | null {
    const { maxEntries } = this.#bounds;
    const commas = (this.#commas[this.#depth] ?? 0) + 1;
    this.#commas[this.#depth] = commas;
    return commas < maxEntries
      ? this.#countValue()
      : `A list or object in the JSON has more than ${String(maxEntries)} entries`;
  }

  #countValue(): string | null {
    const { maxValues } = this.#bounds;
    this.#values += 1;
    return this.#values <= maxValues ? null : `The JSON has more than ${String(maxValues)} values`;
  }
}
