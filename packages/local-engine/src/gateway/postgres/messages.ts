/**
 * The few messages of PostgreSQL's frontend/backend protocol 3 that the gateway needs. Results are always asked
 * for in binary, because a BSON column then arrives as its own bytes; hex text costs twice the volume.
 */

/** A statement parameter: bytes go in binary form, text as text, null as NULL. */
export type Parameter = Buffer | string | null;

/** One row: its columns in binary form; null is SQL NULL. The slices belong to the network buffer. */
export type Row = readonly (Buffer | null)[];

/** What the server reported: the fields of an ErrorResponse the gateway looks at. */
export interface ServerReport {
  readonly severity: string;
  readonly sqlstate: string;
  readonly message: string;
  readonly detail: string;
}

const protocolVersion = 196_608;
const cancelCode = 80_877_102;

export function startupMessage(parameters: Readonly<Record<string, string>>): Buffer {
  const pairs = Object.entries(parameters).flatMap(([name, value]) => [name, value]);
  const text = Buffer.from(`${pairs.join('\0')}\0\0`);
  const message = Buffer.allocUnsafe(8 + text.length);
  message.writeInt32BE(message.length, 0);
  message.writeInt32BE(protocolVersion, 4);
  text.copy(message, 8);
  return message;
}

export function cancelMessage(processId: number, secretKey: Buffer): Buffer {
  const head = Buffer.allocUnsafe(12);
  head.writeInt32BE(12 + secretKey.length, 0);
  head.writeInt32BE(cancelCode, 4);
  head.writeInt32BE(processId, 8);
  return Buffer.concat([head, secretKey]);
}

/** The first SASL message names the mechanism; the later ones carry data only. */
export function saslMessage(data: Buffer, mechanism?: string): Buffer {
  const name = mechanism === undefined ? Buffer.alloc(0) : Buffer.from(`${mechanism}\0`);
  const prefix = Buffer.alloc(mechanism === undefined ? 0 : 4);
  if (prefix.length > 0) prefix.writeInt32BE(data.length, 0);
  const { bytes, at } = framed('p', name.length + prefix.length + data.length);
  Buffer.concat([name, prefix, data]).copy(bytes, at);
  return bytes;
}

export function terminateMessage(): Buffer {
  return framed('X', 0).bytes;
}

/** Parse: gives `sql` the name under which the connection keeps it. */
export function parseMessage(name: string, sql: string): Buffer {
  const nameLength = Buffer.byteLength(name) + 1;
  const sqlLength = Buffer.byteLength(sql) + 1;
  const { bytes, at } = framed('P', nameLength + sqlLength + 2);
  bytes.write(`${name}\0${sql}\0`, at, 'utf8');
  bytes.writeInt16BE(0, at + nameLength + sqlLength);
  return bytes;
}

const executeAndSync = Buffer.from('E\0\0\0\u0009\0\0\0\0\0S\0\0\0\u0004', 'latin1');

/**
 * Bind, Execute and Sync in as few pieces as possible. Big parameters are handed on as they are, not copied.
 */
export function executeMessages(name: string, parameters: readonly Parameter[]): Buffer[] {
  const values = parameters.map((value) => (typeof value === 'string' ? Buffer.from(value) : value));
  const nameLength = Buffer.byteLength(name) + 1;
  let length = 1 + nameLength + 2 + 2 * values.length + 2 + 4;
  for (const value of values) length += 4 + (value?.length ?? 0);
  const pieces: Buffer[] = [];
  let head: Buffer = Buffer.allocUnsafe(5 + 1 + nameLength + 2 + 2 * values.length + 2);
  head.write('B', 0, 'latin1');
  head.writeInt32BE(4 + length, 1);
  let at = 5;
  head[at++] = 0;
  at += head.write(`${name}\0`, at, 'utf8');
  at = head.writeInt16BE(values.length, at);
  for (const parameter of parameters) at = head.writeInt16BE(Buffer.isBuffer(parameter) ? 1 : 0, at);
  at = head.writeInt16BE(values.length, at);
  for (const value of values) {
    const prefix = Buffer.allocUnsafe(4);
    prefix.writeInt32BE(value?.length ?? -1, 0);
    pieces.push(head, prefix);
    head = value ?? Buffer.alloc(0);
  }
  pieces.push(head, Buffer.from([0, 1, 0, 1]), executeAndSync);
  return joinSmall(pieces);
}

const copyLimit = 16_384;

/** Copies neighbours that are small into one buffer: a few writes of some bytes each cost more than the copy. */
function joinSmall(pieces: readonly Buffer[]): Buffer[] {
  const joined: Buffer[] = [];
  let run: Buffer[] = [];
  const flush = (): void => {
    if (run.length > 0) joined.push(run.length === 1 && run[0] !== undefined ? run[0] : Buffer.concat(run));
    run = [];
  };
  for (const piece of pieces) {
    if (piece.length <= copyLimit) {
      run.push(piece);
    } else {
      flush();
      joined.push(piece);
    }
  }
  flush();
  return joined;
}

function framed(type: string, length: number): { bytes: Buffer; at: number } {
  const bytes = Buffer.allocUnsafe(5 + length);
  bytes.write(type, 0, 'latin1');
  bytes.writeInt32BE(4 + length, 1);
  return { bytes, at: 5 };
}

/** The columns of a DataRow message body. */
export function readRow(body: Buffer): Row {
  const count = body.readInt16BE(0);
  const row: (Buffer | null)[] = [];
  let at = 2;
  for (let index = 0; index < count; index += 1) {
    const length = body.readInt32BE(at);
    at += 4;
    row.push(length < 0 ? null : body.subarray(at, at + length));
    if (length > 0) at += length;
  }
  return row;
}

/** The fields of an ErrorResponse or NoticeResponse body. */
export function readReport(body: Buffer): ServerReport {
  const fields = new Map<string, string>();
  let at = 0;
  while (at < body.length && body[at] !== 0) {
    const end = body.indexOf(0, at + 1);
    if (end < 0) break;
    fields.set(String.fromCharCode(body[at] ?? 0), body.toString('utf8', at + 1, end));
    at = end + 1;
  }
  return {
    severity: fields.get('V') ?? fields.get('S') ?? 'ERROR',
    sqlstate: fields.get('C') ?? 'XX000',
    message: fields.get('M') ?? '',
    detail: fields.get('D') ?? '',
  };
}
