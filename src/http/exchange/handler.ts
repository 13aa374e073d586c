import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendJson } from './respond.ts';

export type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void> | void;

export const GRAPHQL_PATH = '/graphql';

export function requestPath({ url = '/' }: IncomingMessage): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

export function readOnly(handler: Handler): Handler {
  return (req, res) => {
    if (req.method === 'GET' || req.method === 'HEAD') return handler(req, res);
    sendJson(res, 405, { error: 'Method not allowed' }, { allow: 'GET, HEAD' });
  };
}
