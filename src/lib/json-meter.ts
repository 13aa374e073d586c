/** Bounds on the shape of JSON, independent of its meaning. */
export interface JsonBounds {
  /** Nesting depth of lists and objects. */
  readonly maxDepth: number;
  /** Entries of one list or properties of one object. */
  readonly maxEntries: number;
  /** Values in total; an empty list or object counts as two. */
  readonly maxValues: number;
  /** Bytes of one string as written, escapes included. */
  readonly maxTextBytes: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The first bytes of a string are examined one by one, which covers most strings; the rest is searched. */
const SHORT_BYTES = 32;

/** Finds the ends of strings. Remembers matches, so that no byte is searched more than once per delimiter. */
class TextEnds {
  readonly #bytes: Buffer;
  #quote = -1;
  #backslash = -1;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Next quote or backslash from a position on. Positions must not decrease between calls. */
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

/** Measures JSON while its bytes arrive, before a parser would allocate the values. Does not check syntax. */
export class JsonMeter {
  readonly #bounds: JsonBounds;
  /** Commas counted in each open list or object. */
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

  /** Reads more bytes. Returns a description of the first violated bound, or `null`. */
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

  /** Reads to the end of the string or of the bytes. Returns the position reached. */
  #readText(bytes: Buffer, start: number, ends: TextEnds): number {
    // Stop where the string would exceed its limit.
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
        // The loop adds one.
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
