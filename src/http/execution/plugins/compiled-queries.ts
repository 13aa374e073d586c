import type { ExecutionArgs, ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { GraphQLContext } from '../../../graphql/context.ts';
import { withFirstRefusal } from '../../../graphql/errors.ts';
import { FIRST_FAULT } from '../../../graphql/limits/variables.ts';
import type { CompiledExecution, SharedResult } from '../compiled-execution.ts';

export type Execute = (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;

export function compiledQueries(compiledExecution: CompiledExecution): Plugin {
  return {
    onExecute({ executeFn, setExecuteFn }) {
      const interpret = executeFn as Execute;
      setExecuteFn((args: ExecutionArgs) =>
        executeCompiled(compiledExecution, args, {
          interpret,
          isOverHttp: isOverHttp(args.contextValue as GraphQLContext),
        }),
      );
    },
  };
}

/** @param how.interpret runs operations that are not compiled */
export async function executeCompiled(
  compiledExecution: CompiledExecution,
  args: ExecutionArgs,
  { interpret, isOverHttp }: { readonly interpret: Execute; readonly isOverHttp: boolean },
): Promise<SharedResult> {
  const bounded = { ...args, contextValue: args.contextValue as GraphQLContext, options: FIRST_FAULT };
  const result = isOverHttp
    ? await compiledExecution.executeShared(bounded, interpret)
    : await compiledExecution.execute(bounded, interpret);
  return withFirstRefusal(result);
}

/** Results for sockets are serialised elsewhere. */
function isOverHttp(contextValue: GraphQLContext): boolean {
  return 'request' in contextValue;
}
