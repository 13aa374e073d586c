import type { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { findOperation } from '../../../graphql/limits/operation.ts';
import type { RequestObserver } from '../../exchange/observe.ts';
import type { RequestContext } from '../operation-context.ts';

/** Reports every HTTP request once; a subscription when it starts. */
export function requestFigures(observer: RequestObserver): Plugin<object, RequestContext> {
  return {
    onResultProcess({ result, serverContext }) {
      const errors = 'errors' in result ? (result.errors as readonly GraphQLError[] | undefined) : undefined;
      observer.finished(operationName(serverContext), errors, serverContext.startedAt);
    },
  };
}

export function operationName({ document, params }: RequestContext): string | null {
  if (document === undefined) return null;
  return findOperation(document, params?.operationName)?.definition.name?.value ?? null;
}
