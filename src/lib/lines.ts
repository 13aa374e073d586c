import { open, type FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';

export type Line =
  | { readonly number: number; readonly text: string; readonly fault: null }
  | { readonly number: number; readonly text: null; readonly fault: string };

interface LineOptions {
  /** Called before each line is returned, with the bytes of text from the start of the file to the end of the line. */
  readonly onText?: (bytes: number) => void;
  /** Maximum line length. Default: 1 MiB. */
  readonly maxBytes?: number;
}

export const MAX_LINE_BYTES = 1_048_576;
const NEWLINE = 10;
const GZIP_MAGIC = Buffer.of(0x1f, 0x8b);

/** Non-empty lines of a file, plain or gzip (detected by its first bytes), in bounded memory. */
export async function* readLines(path: string, options: LineOptions = {}): AsyncGenerator<Line> {
  await using file = await open(path);
  // A compression that failed leaves an empty file.
  if (path.endsWith('.gz') && (await file.stat()).size === 0) throw new DamagedFile(path, 'is empty');
  try {
    yield* linesOf(file.createReadStream({ start: 0 }) as AsyncIterable<Buffer>, options);
  } catch (error) {
    if (!(error instanceof DamagedText)) throw error;
    throw new DamagedFile(path, error.message, { cause: error.cause });
  }
}

/**
 * Non-empty lines of a stream, plain or gzip (detected by its first bytes), in bounded memory. What follows the last line break
 * is a line only if the stream ends well.
 * @throws DamagedText, or the error of the stream
 */
export async function* linesOf(
  source: AsyncIterable<Buffer>,
  options: LineOptions = {},
): AsyncGenerator<Line> {
  const { isGzip, chunks } = await unpackable(source);
  if (!isGzip) {
    yield* splitLines(chunks, options);
    return;
  }
  const text = createGunzip();
  // A failing part ends the output with its error, which the loop below throws.
  pipeline(chunks, text).catch(() => undefined);
  try {
    yield* splitLines(text as AsyncIterable<Buffer>, options);
  } catch (error) {
    if (!isOfZlib(error)) throw error;
    throw new DamagedText(`is damaged: ${error.message}`, { cause: error });
  }
}

async function unpackable(
  source: AsyncIterable<Buffer>,
): Promise<{ readonly isGzip: boolean; readonly chunks: AsyncIterable<Buffer> }> {
  const iterator = source[Symbol.asyncIterator]();
  let first = Buffer.alloc(0);
  let next: IteratorResult<Buffer> | null = null;
  while (first.length < GZIP_MAGIC.length && next?.done !== true) {
    next = await iterator.next();
    if (next.done !== true) first = Buffer.concat([first, next.value]);
  }
  async function* chunks(): AsyncGenerator<Buffer> {
    try {
      yield first;
      yield* { [Symbol.asyncIterator]: () => iterator };
    } finally {
      await iterator.return?.();
    }
  }
  return { isGzip: first.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC), chunks: chunks() };
}

/** A compressed text that cannot be read. */
export class DamagedText extends Error {
  override readonly name = 'DamagedText';
}

/** To read it once more changes nothing. */
export class DamagedFile extends Error {
  override readonly name = 'DamagedFile';

  constructor(path: string, fault: string, options?: ErrorOptions) {
    super(`${path} ${fault}`, options);
  }
}

function isOfZlib(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
}

/**
 * Estimated bytes of text in a file. Gzip stores this in its last four bytes, which is too little for concatenated files and
 * beyond 4 GiB, so a reader may exceed it.
 */
export async function textBytes(path: string): Promise<number> {
  await using file = await open(path);
  const { size } = await file.stat();
  if (!(await beginsWithGzipMagic(file)) || size < 4) return size;
  const { buffer } = await file.read(Buffer.alloc(4), 0, 4, size - 4);
  return Math.max(size, buffer.readUInt32LE());
}

async function beginsWithGzipMagic(file: FileHandle): Promise<boolean> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(GZIP_MAGIC.length), 0, GZIP_MAGIC.length, 0);
  return bytesRead === GZIP_MAGIC.length && buffer.equals(GZIP_MAGIC);
}

async function* splitLines(
  chunks: AsyncIterable<Buffer>,
  { onText, maxBytes = MAX_LINE_BYTES }: LineOptions,
): AsyncGenerator<Line> {
  const line = new PartialLine(maxBytes);
  let bytes = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      line.add(chunk.subarray(start, end));
      const whole = line.take();
      onText?.(bytes + end + 1);
      if (whole !== null) yield whole;
      start = end + 1;
    }
    bytes += chunk.length;
    line.add(chunk.subarray(start));
  }
  const last = line.take();
  onText?.(bytes);
  if (last !== null) yield last;
}

/** Collects the pieces of a line; keeps nothing of a line that is too long. */
class PartialLine {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #number = 1;
  #pieces: Buffer[] = [];
  #length = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > this.#maxBytes) this.#pieces = [];
    else this.#pieces.push(piece);
  }

  /** Returns the line and starts a new one; `null` for an empty line. */
  take(): Line | null {
    const number = this.#number;
    const bytes = Buffer.concat(this.#pieces);
    const isTooLong = this.#length > this.#maxBytes;
    this.#number += 1;
    this.#pieces = [];
    this.#length = 0;
    if (isTooLong)
      return { number, text: null, fault: `The line is longer than ${String(this.#maxBytes)} bytes` };
    try {
      const text = this.#decoder.decode(bytes).trim();
      return text === '' ? null : { number, text, fault: null };
    } catch {
      return { number, text: null, fault: 'The line is not UTF-8' };
    }
  }
}
