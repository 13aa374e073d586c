import { execute, type ExecutionArgs, type ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { withFirstRefusal } from '../../../graphql/errors.ts';
import { FIRST_FAULT } from '../../../graphql/limits/variables.ts';
import type { WrittenResult } from '../../../graphql/rendering/answer.ts';
import type { CompiledExecution } from '../compiled-execution.ts';
import type { AnsweringContext } from '../shared-parts/shared-execution.ts';

export function compiledQueries(compiledExecution: CompiledExecution): Plugin {
  return {
    onExecute({ setExecuteFn }) {
      setExecuteFn((args: ExecutionArgs) => executeCompiled(compiledExecution, args));
    },
  };
}

/**
 * Runs a query or mutation and writes its data, so that an answer that becomes too large is an error before it takes memory.
 * Operations that are not compiled are interpreted by graphql-js: for it only a function `then` makes a promise, while Yoga's
 * own executor would wait for any value with a property of this name.
 */
export async function executeCompiled(
  compiledExecution: CompiledExecution,
  args: ExecutionArgs,
): Promise<ExecutionResult | WrittenResult> {
  const contextValue = args.contextValue as AnsweringContext;
  const result = await compiledExecution.executeShared(
    { ...args, contextValue, options: FIRST_FAULT },
    execute,
  );
  return contextValue.answer.write(withFirstRefusal(result));
}
