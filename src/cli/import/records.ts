import { createHash } from 'node:crypto';
import { z } from 'zod';
import { descriptorOfInput } from '../../descriptors/registry.ts';
import { SCOPES } from '../../domain/action.ts';
import type { FollowInput, MemberInput, PublishActionInput, RefInput } from '../../features/shapes.ts';
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

/** Non-empty lines of a file, plain or gzip (detected by its first bytes), in bounded memory. */
export async function* readLines(path: string, options: LineOptions = {}): AsyncGenerator<Line> {
  await using file = await open(path);
  const isGzip = await beginsWithGzipMagic(file);
  const source = file.createReadStream({ start: 0 });
  if (!isGzip) {
    yield* splitLines(source as AsyncIterable<Buffer>, options);
    return;
  }
  const text = createGunzip();
  // A failing part ends the output with its error, which the loop below throws.
  pipeline(source, text).catch(() => undefined);
  yield* splitLines(text as AsyncIterable<Buffer>, options);
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
  const { bytesRead, buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
  return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
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

/** Contents of one line per kind of file: the API's inputs. */
export interface Records {
  readonly members: MemberInput;
  readonly refs: RefInput;
  readonly follows: FollowInput;
  readonly actions: PublishActionInput;
}

export type RecordKind = keyof Records;

export type ReadRecord<R> =
  | { readonly line: number; readonly record: R; readonly bytes: number; readonly fault: null }
  | { readonly line: number; readonly record: null; readonly fault: string };

const detailFields = {
  imageUrl: z.string().nullish(),
  url: z.string().nullish(),
  data: z.unknown().optional(),
};
const refSchema = z.strictObject({ id: z.string(), type: z.string(), label: z.string(), ...detailFields });
const strings = z.array(z.string()).nullish();
const time = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .nullish();

const descriptorSchema = z.record(z.string(), z.unknown()).superRefine((value, context) => {
  const given = Object.entries(value).filter(([, body]) => body !== undefined);
  for (const [name] of given)
    if (descriptorOfInput(name) === undefined)
      context.addIssue({ code: 'custom', message: `Unrecognized key: ${JSON.stringify(name)}` });
  if (given.length !== 1) context.addIssue({ code: 'custom', message: 'Must have exactly one descriptor' });
  for (const [name, body] of given)
    for (const issue of descriptorOfInput(name)?.schema.safeParse(body).error?.issues ?? [])
      context.addIssue({ code: 'custom', path: [name, ...issue.path], message: issue.message });
});

/**
 * The API's inputs, field by field: checks the shapes for which the API would reject a whole batch. Everything else about a
 * value is checked by the server, which answers per entry.
 */
export const SCHEMAS: {
  readonly [K in RecordKind]: z.ZodType<Records[K]> & { readonly shape: object };
} = {
  members: z.strictObject({
    memberId: z.string(),
    name: z.string(),
    teamId: z.string().nullish(),
    departmentId: z.string().nullish(),
    supervisorId: z.string().nullish(),
    ...detailFields,
  }),
  refs: refSchema,
  follows: z.strictObject({
    followerId: z.string(),
    refId: z.string(),
    types: strings,
    isAssigned: z.boolean().nullish(),
  }),
  actions: z.strictObject({
    idempotencyKey: z.string().nullish(),
    actorId: z.string().nullish(),
    conducted: time,
    expiresAt: time,
    scope: z.enum(SCOPES).nullish(),
    recipients: strings,
    mentions: strings,
    refs: z.array(refSchema).nullish(),
    descriptor: descriptorSchema,
  }),
};

const COMPLETE: { readonly [K in RecordKind]: (record: Records[K], line: Line) => Records[K] } = {
  members: (member) => member,
  refs: (ref) => ref,
  follows: (follow) => follow,
  actions: withIdempotencyKey,
};

export function readRecord<K extends RecordKind>(kind: K, line: Line): ReadRecord<Records[K]> {
  if (line.fault !== null) return { line: line.number, record: null, fault: line.fault };
  const json = parseJson(line.text);
  if (json === undefined) return { line: line.number, record: null, fault: 'The line is not JSON' };
  const read = SCHEMAS[kind].safeParse(json);
  if (!read.success)
    return { line: line.number, record: null, fault: read.error.issues.map(shownIssue).join('; ') };
  const record = COMPLETE[kind](read.data, line);
  return { line: line.number, record, bytes: Buffer.byteLength(line.text), fault: null };
}

/** An action without a key gets one derived from its line, so that the same file can be imported again. */
function withIdempotencyKey(action: PublishActionInput, line: Line): PublishActionInput {
  if (action.idempotencyKey != null) return action;
  const digest = createHash('sha256')
    .update(`${String(line.number)}\n${line.text ?? ''}`)
    .digest('base64url');
  return { ...action, idempotencyKey: `import:${digest}` };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function shownIssue(issue: z.core.$ZodIssue): string {
  return issue.path.length === 0 ? issue.message : `${issue.path.map(String).join('.')}: ${issue.message}`;
}
