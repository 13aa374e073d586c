import type { ExecutionArgs, ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { GraphQLContext } from '../../../graphql/context.ts';
import { withFirstRefusal } from '../../../graphql/errors.ts';
import { FIRST_FAULT } from '../../../graphql/limits/variables.ts';
import type { CompiledExecution } from '../compiled-execution.ts';

type Execute = (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;

export function compiledQueries(compiledExecution: CompiledExecution): Plugin {
  return {
    onExecute({ executeFn, setExecuteFn }) {
      const interpret = executeFn as Execute;
      setExecuteFn(async (args: ExecutionArgs) => {
        const bounded = { ...args, contextValue: args.contextValue as GraphQLContext, options: FIRST_FAULT };
        const result = isOverHttp(bounded.contextValue)
          ? await compiledExecution.executeShared(bounded, interpret)
          : await compiledExecution.execute(bounded, interpret);
        return withFirstRefusal(result);
      });
    },
  };
}

/** What a socket is sent is made into text by somebody else. */
function isOverHttp(contextValue: GraphQLContext): boolean {
  return 'request' in contextValue;
}
