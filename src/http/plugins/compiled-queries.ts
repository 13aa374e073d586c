import type { ExecutionArgs, ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { withFirstRefusal } from '../../graphql/errors.ts';
import { FIRST_FAULT } from '../../graphql/limits/variables.ts';
import type { CompiledExecution } from '../compiled-execution.ts';

type Execute = (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;

/** Has operations that come again and again run by functions made for them. */
export function compiledQueries(compiledExecution: CompiledExecution): Plugin {
  return {
    onExecute({ executeFn, setExecuteFn }) {
      setExecuteFn(async (args: ExecutionArgs) => {
        const bounded = { ...args, options: FIRST_FAULT };
        return withFirstRefusal(await compiledExecution.execute(bounded, executeFn as Execute));
      });
    },
  };
}
