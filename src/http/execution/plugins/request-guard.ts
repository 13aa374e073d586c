import type { Plugin } from 'graphql-yoga';
import { apiError } from '../../../graphql/errors.ts';
import { JsonMeter, type JsonBounds } from '../../../lib/json-meter.ts';
import { acceptsAnswers } from '../../exchange/accept.ts';
import type { RequestContext } from '../operation-context.ts';

const NOT_ACCEPTABLE =
  'The accept header must allow application/graphql-response+json, application/json or text/event-stream';
const JSON_TYPE = /^application\/(?:graphql\+)?json\s*(?:;|$)/i;

const CHARSET = /;\s*charset\s*=\s*"?([^";]*)"?/i;
const UTF_8 = /^utf-?8$/i;

/** JSON in a GET's URL has the same limits as JSON in a body. */
function jsonFault({ url }: Request, name: string, bounds: JsonBounds): string | null {
  const text = new URL(url).searchParams.get(name);
  return text === null ? null : new JsonMeter(bounds).read(Buffer.from(text));
}

type HeaderOf = (name: 'content-type' | 'content-encoding') => string | null | undefined;

/** Why the body is not accepted; `null`: it is uncompressed JSON in UTF-8. */
export function bodyFault(headerOf: HeaderOf): string | null {
  const type = headerOf('content-type') ?? '';
  if (!JSON_TYPE.test(type)) return 'The body must be application/json';
  const charset = CHARSET.exec(type)?.[1]?.trim() ?? 'utf-8';
  if (!UTF_8.test(charset)) return `The charset of the body must be utf-8, got "${charset.slice(0, 40)}"`;
  const encoding = headerOf('content-encoding')?.trim() ?? '';
  if (encoding !== '' && encoding.toLowerCase() !== 'identity')
    return `The body must be sent without content-encoding, got "${encoding.slice(0, 40)}"`;
  return null;
}

/**
 * Rejects requests before their body is examined. With introspection off, callers without a token get no further, since
 * validation messages would reveal the schema. Bodies that are not JSON are rejected as well, so that pages of other origins
 * need a preflight request; browsers never send tokens on their own.
 */
export function requestGuard(options: {
  readonly introspection: boolean;
  readonly json: JsonBounds;
}): Plugin<object, RequestContext> {
  return {
    onRequestParse({ request, serverContext, requestParser, setRequestParser, endResponse, fetchAPI }) {
      if (!acceptsAnswers(request.headers.get('accept'))) {
        // None of the answer types is acceptable to the client, so this answer ignores its choice.
        const { message, extensions } = apiError('BAD_USER_INPUT', NOT_ACCEPTABLE);
        const body = { errors: [{ message, extensions: { code: extensions['code'] } }] };
        endResponse(fetchAPI.Response.json(body, { status: 406 }));
        return;
      }
      if (serverContext.refusal !== undefined) throw serverContext.refusal;
      if (serverContext.caller.identity === null && !options.introspection)
        throw apiError('UNAUTHENTICATED', 'This requires a token: authorization: Bearer <token>');
      const fault = request.method === 'POST' ? bodyFault((name) => request.headers.get(name)) : null;
      if (fault !== null) throw apiError('BAD_USER_INPUT', fault, { status: 415 });
      if (request.method === 'GET' && requestParser !== undefined)
        setRequestParser(async (get) => {
          const tooMuch =
            jsonFault(get, 'variables', options.json) ?? jsonFault(get, 'extensions', options.json);
          if (tooMuch !== null) throw apiError('BAD_USER_INPUT', tooMuch);
          try {
            return await requestParser(get);
          } catch (error) {
            if (!(error instanceof SyntaxError)) throw error;
            throw apiError('BAD_USER_INPUT', 'Variables and extensions must be JSON');
          }
        });
    },
  };
}
