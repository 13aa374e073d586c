import type { ExecutionArgs } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { CompiledExecution } from '../compiled-execution.ts';

type Execute = (args: ExecutionArgs) => unknown;

/** Has operations that come again and again run by functions made for them. */
export function compiledQueries(compiledExecution: CompiledExecution): Plugin {
  return {
    onExecute({ executeFn, setExecuteFn }) {
      setExecuteFn((args: ExecutionArgs) => compiledExecution.execute(args, executeFn as Execute));
    },
  };
}
