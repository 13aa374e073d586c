import { OperationTypeNode, type ExecutionArgs, type ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { GraphQLContext } from '../../../graphql/context.ts';
import { findOperation } from '../../../graphql/limits/document-limits.ts';
import { tracedEntry } from '../../../telemetry/tracing.ts';
import { isTrusted } from '../../../domain/viewer.ts';
import type { RequestContext } from '../operation-context.ts';

type Execute = (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;

const MOST_OF_A_NAME = 100;

/**
 * A span per query and mutation over any transport, starting when the request arrived. Comes after the executing plugins.
 */
export function tracedOperations(): Plugin {
  return {
    onExecute({ executeFn, setExecuteFn }) {
      const execute = executeFn as Execute;
      setExecuteFn((args: ExecutionArgs) => inSpan(args, () => execute(args)));
    },
  };
}

export function inSpan<T>({ contextValue, document, operationName }: ExecutionArgs, execute: () => T): T {
  const { caller, startedAt, traceparent } = contextValue as RequestContext & GraphQLContext;
  const definition = findOperation(document, operationName)?.definition;
  const type = definition?.operation ?? OperationTypeNode.QUERY;
  const name = (definition?.name?.value ?? 'anonymous').slice(0, MOST_OF_A_NAME);
  return tracedEntry(
    `${type} ${name}`,
    {
      parent: mayContinueTraces(caller) ? (traceparent ?? null) : null,
      kind: 'server',
      attributes: { 'graphql.operation.type': type, 'graphql.operation.name': name },
      startedAt,
    },
    execute,
  );
}

/** Backends of the installation. The caller that continues a trace decides whether it is sampled, which costs resources. */
function mayContinueTraces({ identity }: RequestContext['caller']): boolean {
  return identity !== null && isTrusted(identity);
}
