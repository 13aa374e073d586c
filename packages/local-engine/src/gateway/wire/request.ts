import { documentLength, peek, type Peeked } from '../bson/peek.ts';
import { textOf } from '../bson/values.ts';
import { WireFault } from './frames.ts';

/** A command as a client sent it. */
export interface Request {
  readonly id: number;
  /** OP_QUERY is answered with OP_REPLY; drivers use it for the first handshake only. */
  readonly isLegacy: boolean;
  /** False when the client asked for silence (`w: 0`). */
  readonly wantsReply: boolean;
  /** The command: the name of the first field. */
  readonly name: string;
  readonly db: string;
  readonly body: Peeked;
  /** Document sequences by field name, as concatenated BSON just as it came. */
  readonly sequences: ReadonlyMap<string, Buffer>;
}

const opQuery = 2004;
const opMessage = 2013;
const opCompressed = 2012;

const flag = { checksumPresent: 1, moreToCome: 1 << 1 };
/** Bits 0 to 15 must be understood, the rest may be ignored. */
const unknownRequiredFlags = 0xffff & ~(flag.checksumPresent | flag.moreToCome);

/** Reads one message. Throws WireFault or BsonFault when it is malformed; the connection is then of no more use. */
export function readRequest(message: Buffer): Request {
  const id = message.readInt32LE(4);
  const opcode = message.readInt32LE(12);
  if (opcode === opMessage) return readOpMessage(message, id);
  if (opcode === opQuery) return readOpQuery(message, id);
  if (opcode === opCompressed) throw new WireFault('Compression was not agreed upon');
  throw new WireFault(`Unknown opcode ${String(opcode)}`);
}

function readOpMessage(message: Buffer, id: number): Request {
  if (message.length < 21) throw new WireFault('The message is too short');
  const flags = message.readUInt32LE(16);
  if ((flags & unknownRequiredFlags) !== 0) throw new WireFault(`Unknown flags ${String(flags)}`);
  // TCP has its own checksum; this optional one is not verified.
  const end = (flags & flag.checksumPresent) === 0 ? message.length : message.length - 4;
  let body: Peeked | undefined;
  const sequences = new Map<string, Buffer>();
  let at = 20;
  while (at < end) {
    const kind = message[at];
    at += 1;
    if (kind === 0) {
      if (body !== undefined) throw new WireFault('The message has two bodies');
      const length = documentLength(message.subarray(0, end), at);
      body = peek(message.subarray(at, at + length));
      at += length;
    } else if (kind === 1) {
      at = readSequence(message, at, end, sequences);
    } else {
      throw new WireFault(`Unknown section kind ${String(kind)}`);
    }
  }
  if (body === undefined) throw new WireFault('The message has no body');
  const db = textOf(body, '$db');
  if (db === undefined) throw new WireFault('The message names no database');
  const wantsReply = (flags & flag.moreToCome) === 0;
  return { id, isLegacy: false, wantsReply, name: firstName(body), db, body, sequences };
}

function readSequence(message: Buffer, at: number, end: number, sequences: Map<string, Buffer>): number {
  if (at + 5 > end) throw new WireFault('A section is cut off');
  const length = message.readInt32LE(at);
  const sectionEnd = at + length;
  if (length < 5 || sectionEnd > end) throw new WireFault(`A section claims ${String(length)} bytes`);
  const nameEnd = message.indexOf(0, at + 4);
  if (nameEnd < 0 || nameEnd >= sectionEnd) throw new WireFault('The name of a section does not end');
  const name = message.toString('utf8', at + 4, nameEnd);
  if (sequences.has(name)) throw new WireFault(`Two sections are named "${name}"`);
  const documents = message.subarray(nameEnd + 1, sectionEnd);
  for (let start = 0; start < documents.length;) start += documentLength(documents, start);
  sequences.set(name, documents);
  return sectionEnd;
}

function readOpQuery(message: Buffer, id: number): Request {
  const nameEnd = message.indexOf(0, 20);
  if (nameEnd < 0) throw new WireFault('The namespace does not end');
  const namespace = message.toString('utf8', 20, nameEnd);
  const at = nameEnd + 9;
  if (!namespace.endsWith('.$cmd')) throw new WireFault('OP_QUERY is understood for commands only');
  const length = documentLength(message, at);
  const body = peek(message.subarray(at, at + length));
  const db = namespace.slice(0, -'.$cmd'.length);
  return { id, isLegacy: true, wantsReply: true, name: firstName(body), db, body, sequences: new Map() };
}

function firstName(body: Peeked): string {
  for (const name of body.fields.keys()) return name;
  throw new WireFault('The command is empty');
}
