import type { Plugin } from 'graphql-yoga';
import { apiError } from '../../graphql/errors.ts';
import { acceptsAnswers } from '../accept.ts';
import type { RequestContext } from '../operation-context.ts';

const NOT_ACCEPTABLE =
  'The accept header must allow application/graphql-response+json, application/json or text/event-stream';
const JSON_TYPE = /^application\/(?:graphql\+)?json\s*(?:;|$)/i;

export function isJson(contentType: string | null | undefined): boolean {
  return contentType != null && JSON_TYPE.test(contentType);
}

/**
 * Refuses requests before their body is looked at. Nobody without a token gets further when introspection is off:
 * validation messages would tell them the schema. Bodies that are no JSON are refused too; so no page of another
 * origin can send one without asking first, and tokens are never sent by browsers on their own.
 */
export function requestGuard(options: { readonly introspection: boolean }): Plugin<object, RequestContext> {
  return {
    onRequestParse({ request, serverContext, requestParser, setRequestParser, endResponse, fetchAPI }) {
      if (!acceptsAnswers(request.headers.get('accept'))) {
        // No form of GraphQL's answers will do, so this one has none of the client's choice.
        const { message, extensions } = apiError('BAD_USER_INPUT', NOT_ACCEPTABLE);
        const body = { errors: [{ message, extensions: { code: extensions['code'] } }] };
        endResponse(fetchAPI.Response.json(body, { status: 406 }));
        return;
      }
      if (serverContext.refusal !== undefined) throw serverContext.refusal;
      if (serverContext.caller.identity === null && !options.introspection)
        throw apiError('UNAUTHENTICATED', 'This needs a token: authorization: Bearer <token>');
      if (request.method === 'POST' && !isJson(request.headers.get('content-type')))
        throw apiError('BAD_USER_INPUT', 'The body must be application/json', { status: 415 });
      if (request.method === 'GET' && requestParser !== undefined)
        setRequestParser(async (get) => {
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
