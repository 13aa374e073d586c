import type { Request } from './request.ts';

const opReply = 1;
const opMessage = 2013;
const messageHeadLength = 21;
const replyHeadLength = 36;

/** The head that goes before the BSON of a reply; the document itself is sent as it is, without a copy. */
export function replyHead(request: Request, documentBytes: number, id: number): Buffer {
  return request.isLegacy ? legacyHead(request, documentBytes, id) : messageHead(request, documentBytes, id);
}

function messageHead(request: Request, documentBytes: number, id: number): Buffer {
  const head = Buffer.alloc(messageHeadLength);
  head.writeInt32LE(messageHeadLength + documentBytes, 0);
  head.writeInt32LE(id, 4);
  head.writeInt32LE(request.id, 8);
  head.writeInt32LE(opMessage, 12);
  return head;
}

function legacyHead(request: Request, documentBytes: number, id: number): Buffer {
  const head = Buffer.alloc(replyHeadLength);
  head.writeInt32LE(replyHeadLength + documentBytes, 0);
  head.writeInt32LE(id, 4);
  head.writeInt32LE(request.id, 8);
  head.writeInt32LE(opReply, 12);
  // Bit 3, AwaitCapable: every server since 1.6 sets it.
  head.writeInt32LE(8, 16);
  head.writeInt32LE(1, 32);
  return head;
}
