import type { Document } from 'mongodb';
import { decode, encode } from '../bson/encode.ts';
import type { CommandContext, Handlers } from '../context.ts';
import type { Request } from '../wire/request.ts';

/** Sessions carry nothing here but cursors; ending one closes those it left open. */
function endNamedSessions(request: Request, context: CommandContext): Buffer {
  const list: unknown = decode(request.body.bytes)[request.name];
  const ended = new Set(
    (Array.isArray(list) ? list : []).map((session) => encode(session as Document).toString('hex')),
  );
  context.cursors.killWhere((cursor) => ended.has(cursor.session));
  return encode({ ok: 1 });
}

function endAllSessions(_request: Request, context: CommandContext): Buffer {
  context.cursors.killWhere((cursor) => cursor.session !== '');
  return encode({ ok: 1 });
}

export const sessionCommands: Handlers = {
  refreshSessions: () => encode({ ok: 1 }),
  endSessions: endNamedSessions,
  killSessions: endNamedSessions,
  killAllSessions: endAllSessions,
};
