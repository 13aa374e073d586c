import type { ExecutionArgs, ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { withFirstRefusal } from '../../../graphql/errors.ts';
import { FIRST_FAULT } from '../../../graphql/limits/variables.ts';
import type { WrittenResult } from '../../../graphql/rendering/answer.ts';
import type { CompiledExecution } from '../compiled-execution.ts';
import type { AnsweringContext } from '../shared-parts/shared-execution.ts';

export type Execute = (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;

export function compiledQueries(compiledExecution: CompiledExecution): Plugin {
  return {
    onExecute({ executeFn, setExecuteFn }) {
      const interpret = executeFn as Execute;
      setExecuteFn((args: ExecutionArgs) => executeCompiled(compiledExecution, args, interpret));
    },
  };
}

/**
 * Runs a query or mutation and writes its data, so that an answer that becomes too large is an error before it takes memory.
 * @param interpret runs operations that are not compiled
 */
export async function executeCompiled(
  compiledExecution: CompiledExecution,
  args: ExecutionArgs,
  interpret: Execute,
): Promise<ExecutionResult | WrittenResult> {
  const contextValue = args.contextValue as AnsweringContext;
  const result = await compiledExecution.executeShared(
    { ...args, contextValue, options: FIRST_FAULT },
    interpret,
  );
  return contextValue.answer.write(withFirstRefusal(result));
}
