import { createHash, randomBytes, type Hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { z } from 'zod';
import type { OffloadChunk, OffloadableActions } from './offload-actions.ts';
import type { NewFile } from '../../../src/lib/own-file.ts';
import { CommandError } from '../../../src/cli/context.ts';
import { readLines } from '../../../src/lib/lines.ts';

/** First line of a file. */
export interface OffloadHeader {
  readonly id: string;
  readonly salt: string;
  readonly schema: number;
  /** The ids in its documents have a tenant prefix. */
  readonly tenants: boolean;
  /** The actions have been inactive since this time. */
  readonly before: Date;
  readonly readAt: Date;
}

/** A complete file. */
export interface CheckedFile {
  readonly header: OffloadHeader;
  readonly actions: number;
}

/** Returns the next actions; `null`: no more. */
type ReadNext = (after: string | null) => Promise<OffloadableActions | null>;

const FORMAT = 1;
/** A document in the form the database accepts. */
const MAX_LINE_BYTES = 64 * 1_048_576;
const LINES_AT_ONCE = 500;
const BATCH_END = '{"end":"batch"}';
const FILE_END = '{"end":"file"';
const BEGINS_ACTION = '{"in":"actions",';

const headerSchema = z.strictObject({
  fanfare: z.literal('offload'),
  format: z.literal(FORMAT),
  id: z.string().regex(/^[0-9a-f]{24}$/),
  salt: z.string().regex(/^[0-9a-f]{32,}$/),
  schema: z.int().min(0),
  tenants: z.boolean().default(false),
  before: z.iso.datetime().transform((text) => new Date(text)),
  readAt: z.iso.datetime().transform((text) => new Date(text)),
});
const endSchema = z.strictObject({
  end: z.literal('file'),
  lines: z.int(),
  actions: z.int(),
  sha256: z.string(),
});

/**
 * Writes a file atomically, synced to disk and readable only by its owner; gzip if its name ends in `.gz`.
 * @returns the number of actions in it. If there are none, no file is written.
 */
export async function writeOffloadFile(
  file: NewFile,
  head: Pick<OffloadHeader, 'schema' | 'tenants' | 'before' | 'readAt'>,
  readNext: ReadNext,
  onProgress: (actions: number) => void,
): Promise<number> {
  const { path } = file;
  const hash = createHash('sha256');
  let [lines, actions] = [0, 0];
  const put = (line: string): string => {
    hash.update(`${line}\n`);
    lines += 1;
    return `${line}\n`;
  };
  async function* content(): AsyncGenerator<string> {
    const id = randomBytes(12).toString('hex');
    const salt = randomBytes(16).toString('hex');
    yield put(JSON.stringify({ fanfare: 'offload', format: FORMAT, id, salt, ...head }));
    for (let next = await readNext(null); next !== null; next = await readNext(next.last)) {
      for await (const batch of next.lines) {
        actions += batch.filter((line) => line.startsWith(BEGINS_ACTION)).length;
        if (batch.length > 0) yield batch.map(put).join('');
      }
      yield put(BATCH_END);
      onProgress(actions);
    }
    yield `${JSON.stringify({ end: 'file', lines, actions, sha256: hash.digest('hex') })}\n`;
  }
  try {
    const [source, target] = [Readable.from(content()), file.open()];
    await (path.endsWith('.gz') ? pipeline(source, createGzip(), target) : pipeline(source, target));
    if (actions > 0) {
      await file.complete();
      await syncFolder(dirname(path));
    }
  } finally {
    await file.discard();
  }
  return actions;
}

/** Otherwise a power failure could lose the file name after its contents are gone from the database. */
async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path);
  await folder.sync();
}

/** Reads a file to its end. @throws CommandError if it was modified. */
export async function checkOffloadFile(
  path: string,
  onProgress: (actions: number) => void = () => undefined,
): Promise<CheckedFile> {
  const reader = new FileReader(path);
  for await (const _chunk of reader.chunks()) onProgress(reader.actions);
  return reader.checked();
}

/** Contents of a file, piece by piece. @throws CommandError like `checkOffloadFile`, possibly at the end. */
export async function* readOffloadFile(
  path: string,
  onProgress: (actions: number) => void = () => undefined,
): AsyncGenerator<OffloadChunk, void, undefined> {
  const reader = new FileReader(path);
  for await (const chunk of reader.chunks()) {
    yield chunk;
    onProgress(reader.actions);
  }
}

class FileReader {
  readonly #path: string;
  readonly #hash: Hash = createHash('sha256');
  #header: OffloadHeader | null = null;
  #isWhole = false;
  #lines = 0;
  actions = 0;

  constructor(path: string) {
    this.#path = path;
  }

  async *chunks(): AsyncGenerator<OffloadChunk, void, undefined> {
    let lines: string[] = [];
    for await (const line of this.#texts()) {
      if (line !== BATCH_END) lines.push(line);
      if (line !== BATCH_END && lines.length < LINES_AT_ONCE) continue;
      yield { lines, endsBatch: line === BATCH_END };
      lines = [];
    }
    if (lines.length > 0) throw this.#fault('it has actions after its last batch');
  }

  checked(): CheckedFile {
    if (this.#header === null) throw this.#fault('it is empty');
    return { header: this.#header, actions: this.actions };
  }

  /** The lines between the first and the last one, verified. */
  async *#texts(): AsyncGenerator<string, void, undefined> {
    try {
      for await (const { number, text, fault } of readLines(this.#path, { maxBytes: MAX_LINE_BYTES })) {
        if (text === null) throw this.#fault(`line ${String(number)}: ${fault}`);
        if (this.#isWhole) throw this.#fault(`line ${String(number)} follows its end`);
        if (this.#header === null) this.#header = this.#readHeader(text);
        else if (text.startsWith(FILE_END)) this.#readEnd(text);
        else {
          if (text.startsWith(BEGINS_ACTION)) this.actions += 1;
          yield text;
        }
        this.#hash.update(`${text}\n`);
        this.#lines += 1;
      }
    } catch (error) {
      if (error instanceof CommandError) throw error;
      if (isOfFileSystem(error))
        throw new CommandError(`${this.#path} cannot be read: ${error.message}`, { cause: error });
      throw this.#fault(error instanceof Error ? error.message : String(error));
    }
    this.checked();
    if (!this.#isWhole) throw this.#fault('its end is missing');
  }

  #readHeader(text: string): OffloadHeader {
    const read = headerSchema.safeParse(parsed(text));
    if (!read.success) throw this.#fault('it does not start like such a file');
    const { fanfare: _fanfare, format: _format, ...header } = read.data;
    return header;
  }

  #readEnd(text: string): void {
    const read = endSchema.safeParse(parsed(text));
    const sum = this.#hash.copy().digest('hex');
    if (!read.success || read.data.lines !== this.#lines || read.data.actions !== this.actions)
      throw this.#fault('its number of lines differs from the one it states');
    if (read.data.sha256 !== sum) throw this.#fault('its checksum is wrong: it was changed');
    this.#isWhole = true;
  }

  #fault(what: string): CommandError {
    return new CommandError(`${this.#path} is not a file of offload, or is damaged: ${what}`);
  }
}

/** File system errors, as opposed to errors in the contents. */
function isOfFileSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
