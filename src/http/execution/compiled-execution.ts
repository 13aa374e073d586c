import {
  getVariableValues,
  GraphQLError,
  Kind,
  OperationTypeNode,
  visit,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type Source,
  type VariableDefinitionNode,
  execute,
} from 'graphql';
import { compileQuery, isCompiledQuery, type CompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import { expandedSize, findOperation, isIntrospection } from '../../graphql/limits/document-limits.ts';
import type { AnsweringContext, SharedExecution, SharedQuery } from './shared-parts/shared-execution.ts';
import type { Plugin } from 'graphql-yoga';
import { withFirstRefusal } from '../../graphql/errors.ts';
import { FIRST_FAULT } from '../../graphql/limits/variables.ts';
import type { WrittenResult } from '../../graphql/rendering/answer.ts';

export interface CompiledExecutionOptions {
  /** Number of interpreted runs before an operation with so many fields is compiled. */
  readonly runsBefore: (fields: number) => number;
  /** Upper bound on documents with compiled operations. */
  readonly maxCompiled: number;
  /** Upper bound on the fields of a compiled operation; fragments count at every spread. */
  readonly maxFields: number;
}

/**
 * Compiling takes a third of a millisecond per field; interpreting takes a tenth of a millisecond per operation plus some
 * microseconds per field. A client that sends one operation after another, each just often enough to be compiled, causes
 * several times the work of interpreting, but not a hundred times.
 */
const DEFAULTS: CompiledExecutionOptions = {
  runsBefore: (fields) => fields,
  maxCompiled: 500,
  maxFields: 300,
};

type Result = ExecutionResult | Promise<ExecutionResult>;
type Interpret<R> = (args: ExecutionArgs) => R;

interface Plan {
  runs: number;
  /** Number of the run at which it is compiled. */
  readonly compileAt: number;
  readonly variables: readonly VariableDefinitionNode[];
  /** Absent: not compiled yet. `null`: cannot be compiled. */
  compiled?: CompiledQuery['query'] | null;
  /** The same with parts that are rendered once. */
  shared?: SharedQuery | null;
}

/**
 * Compiles recurring queries and subscription events, which then take a third of the time. Results and errors equal the
 * interpreter's, except for errors below a value that another error made null, which GraphQL leaves open. Mutations are
 * interpreted, since the database takes nearly all of their time.
 */
export class CompiledExecution {
  readonly #options: CompiledExecutionOptions;
  readonly #sharing: SharedExecution | undefined;
  /** By document, which the parser returns as the same object for the same text, and operation name. */
  readonly #plans: LRUCache<DocumentNode, Map<string, Plan>>;

  /** @param sharing compiles operations over HTTP with shared parts; absent: results are rendered as a whole. */
  constructor(options: Partial<CompiledExecutionOptions> = {}, sharing?: SharedExecution) {
    this.#sharing = sharing;
    this.#options = { ...DEFAULTS, ...options };
    this.#plans = new LRUCache({ max: this.#options.maxCompiled });
  }

  /** @param interpret runs operations that are not compiled */
  execute<R>(args: ExecutionArgs, interpret: Interpret<R>): R | Result {
    return this.#execute(this.#planFor(args), args, interpret);
  }

  #execute<R>(plan: Plan, args: ExecutionArgs, interpret: Interpret<R>): R | Result {
    if (!isDue(plan)) return interpret(args);
    if (plan.compiled === undefined) plan.compiled = compile(args);
    if (plan.compiled === null || !doVariablesFit(args, plan.variables)) return interpret(args);
    const result = plan.compiled(args.rootValue, args.contextValue, args.variableValues);
    return result instanceof Promise
      ? result.then((settled) => presentResult(settled, args))
      : presentResult(result, args);
  }

  /**
   * Like `execute`, but parts of the data that are rendered once for all viewers are each a `SharedText`, which only
   * `JsonText` can write.
   */
  async executeShared<R>(
    args: ExecutionArgs & { readonly contextValue: AnsweringContext },
    interpret: Interpret<R>,
  ): Promise<R | ExecutionResult> {
    const plan = this.#planFor(args);
    const sharing = this.#sharing;
    if (!isDue(plan) || sharing === undefined) return this.#execute(plan, args, interpret);
    if (plan.shared === undefined) plan.shared = sharing.compile(args.document, args.operationName);
    if (plan.shared === null || !doVariablesFit(args, plan.variables))
      return this.#execute(plan, args, interpret);
    const { rootValue, contextValue, variableValues } = args;
    const result = await sharing.execute(plan.shared, {
      ...{ rootValue, contextValue },
      variables: variableValues ?? {},
    });
    if (result === null) return interpret(args);
    return presentResult(result, args);
  }

  /** Counts the run. */
  #planFor({ document, operationName }: ExecutionArgs): Plan {
    let plans = this.#plans.get(document);
    if (plans === undefined) this.#plans.set(document, (plans = new Map<string, Plan>()));
    const name = operationName ?? '';
    let plan = plans.get(name);
    if (plan === undefined) plans.set(name, (plan = this.#newPlan(document, operationName)));
    plan.runs += 1;
    return plan;
  }

  #newPlan(document: DocumentNode, operationName: string | null | undefined): Plan {
    const { maxFields, runsBefore } = this.#options;
    const operation = findOperation(document, operationName);
    const fields = operation === null ? Infinity : expandedSize(operation, maxFields + 1);
    const isWorthIt =
      operation !== null &&
      operation.definition.operation !== OperationTypeNode.MUTATION &&
      fields <= maxFields &&
      !isIntrospection(operation) &&
      !hasPitfall(document);
    const variables = operation?.definition.variableDefinitions ?? [];
    return { runs: 0, compileAt: isWorthIt ? runsBefore(fields) : Infinity, variables };
  }
}

function isDue({ runs, compileAt }: Plan): boolean {
  return runs > compileAt;
}

function compile({ schema, document, operationName }: ExecutionArgs): CompiledQuery['query'] | null {
  const compiled = compileQuery(schema, document, operationName ?? undefined);
  return isCompiledQuery(compiled) ? compiled.query : null;
}

/** A compiled function accepts a list in place of an input object, and words its rejections differently. */
function doVariablesFit(
  { schema, variableValues }: ExecutionArgs,
  variables: readonly VariableDefinitionNode[],
): boolean {
  return getVariableValues(schema, variables, variableValues ?? {}, { maxErrors: 1 }).errors === undefined;
}

/** Compiled functions confuse directives of a fragment spread in two ways, and keys that set a prototype. */
function hasPitfall(document: DocumentNode): boolean {
  let has = false;
  visit(document, {
    [Kind.DIRECTIVE]() {
      has = true;
    },
    [Kind.FIELD]({ name, alias }) {
      if ((alias ?? name).value === '__proto__') has = true;
    },
  });
  return has;
}

function presentResult(result: ExecutionResult, { document }: ExecutionArgs): ExecutionResult {
  if (result.errors === undefined) return result;
  const source = document.loc?.source;
  return { ...result, errors: result.errors.map((error) => presentError(error, source)) };
}

/** The error as the interpreter would create it, with its location in the document. */
function presentError(
  { message, path, locations, originalError }: GraphQLError,
  source?: Source,
): GraphQLError {
  const place =
    source === undefined
      ? {}
      : { source, positions: locations?.map((location) => positionOf(source, location)) ?? null };
  // For a missing or null argument the interpreter reports the document.
  const cause =
    originalError ??
    (message.startsWith('Argument "') ? new GraphQLError(message, place) : new Error(message));
  return new GraphQLError(message, { ...place, path: path ?? null, originalError: cause });
}

/** Character offset of a line and column, both counted from 1. */
function positionOf(
  { body }: Source,
  { line, column }: { readonly line: number; readonly column: number },
): number {
  let start = 0;
  const ends = /\r\n|[\n\r]/g;
  for (let n = 1; n < line; n++) {
    if (ends.exec(body) === null) return body.length;
    start = ends.lastIndex;
  }
  return start + column - 1;
}

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
