import { usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import type { RequestContext } from '../operation-context.ts';
import {
  ID_PARAMS,
  operationIdOf,
  type OperationParams,
  type PersistedOperations,
} from '../persisted-operations.ts';

/** Has clients ask over HTTP for operations of the list by their id. Sockets come by another way. */
export function persistedDocuments(persisted: PersistedOperations): Plugin<object, RequestContext> {
  const { onParams } = usePersistedOperations({
    // Who may send a document of their own is known here, and not there.
    allowArbitraryOperations: true,
    extractPersistedOperationId: (params, request) => operationIdOf(withIdOfUrl(params, request)),
    getPersistedOperation: (id) => persisted.find(id),
  });
  // What else it hooks into is for documents that are kept parsed.
  return {
    onParams(payload) {
      const { params, request, context } = payload;
      // What is no request at all has its own refusals.
      if (!isObject(params)) return undefined;
      const { query } = params as OperationParams;
      if (typeof query === 'string' && query !== '') persisted.check(query, context.caller);
      if (operationIdOf(withIdOfUrl(params, request)) === null) return undefined;
      // It is typed for a server that keeps nothing with its requests.
      return onParams?.(payload as unknown as Parameters<typeof onParams>[0]);
    },
  };
}

/** Yoga reads of the URL what it knows. */
function withIdOfUrl(params: GraphQLParams, { method, url }: Request): OperationParams {
  if (method !== 'GET') return params;
  const { searchParams } = new URL(url);
  return { ...params, ...Object.fromEntries(ID_PARAMS.map((name) => [name, searchParams.get(name)])) };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
