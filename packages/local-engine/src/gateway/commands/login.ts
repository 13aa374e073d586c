import type { Document } from 'mongodb';
import { decode, encode } from '../bson/encode.ts';
import type { CommandContext, Handlers } from '../context.ts';
import type { Request } from '../wire/request.ts';

function saslStart({ body }: Request, { login }: CommandContext): Buffer {
  const { mechanism, payload } = decode(body.bytes) as Partial<Record<string, unknown>>;
  return encode({ ...login.start(mechanism, payload), ok: 1 });
}

function saslContinue({ body }: Request, { login }: CommandContext): Buffer {
  const { conversationId, payload } = decode(body.bytes) as Partial<Record<string, unknown>>;
  return encode({ ...login.proceed(conversationId, payload), ok: 1 });
}

function connectionStatus(_request: Request, { login: { user } }: CommandContext): Buffer {
  const authenticatedUsers: Document[] = user === undefined ? [] : [{ user, db: 'admin' }];
  return encode({ authInfo: { authenticatedUsers, authenticatedUserRoles: [] }, ok: 1 });
}

export const loginCommands: Handlers = { saslStart, saslContinue, connectionStatus };
