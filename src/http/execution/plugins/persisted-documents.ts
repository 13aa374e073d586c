import { usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import type { RequestContext } from '../operation-context.ts';
import {
  ID_PARAMS,
  noOperationsById,
  operationIdOf,
  type OperationParams,
  type PersistedOperations,
} from '../persisted-operations.ts';

/** Lets clients request listed operations by id over HTTP. Sockets do this elsewhere. */
export function persistedDocuments(persisted: PersistedOperations): Plugin<object, RequestContext> {
  const { onParams } = usePersistedOperations({
    // Whether a caller may send other documents is decided here, not in the wrapped plugin.
    allowArbitraryOperations: true,
    extractPersistedOperationId: (params, request) => operationIdOf(withIdOfUrl(params, request)),
    getPersistedOperation: (id) => persisted.find(id),
  });
  // The plugin's other hooks concern parsed documents.
  return {
    onParams(payload) {
      const { params, request, context } = payload;
      // Malformed requests are rejected elsewhere.
      if (!isObject(params)) return undefined;
      const { query } = params as OperationParams;
      if (typeof query === 'string' && query !== '') persisted.check(query, context.caller);
      if (operationIdOf(withIdOfUrl(params, request)) === null) return undefined;
      // The plugin's types assume a server without a request context.
      return onParams?.(payload as unknown as Parameters<typeof onParams>[0]);
    },
  };
}

/** Refuses ids where there is no list. A document beside an id is executed. */
export function noPersistedDocuments(): Plugin {
  return {
    onParams({ params }) {
      if (!isObject(params)) return;
      const { query, extensions } = params as OperationParams;
      if ((query === undefined || query === '') && operationIdOf({ extensions }) !== null)
        throw noOperationsById();
    },
  };
}

/** Yoga reads only known parameters from a URL. */
function withIdOfUrl(params: GraphQLParams, { method, url }: Request): OperationParams {
  if (method !== 'GET') return params;
  const { searchParams } = new URL(url);
  return { ...params, ...Object.fromEntries(ID_PARAMS.map((name) => [name, searchParams.get(name)])) };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
