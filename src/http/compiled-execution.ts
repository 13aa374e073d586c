import {
  getVariableValues,
  GraphQLError,
  Kind,
  OperationTypeNode,
  visit,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLSchema,
  type Source,
  type VariableDefinitionNode,
} from 'graphql';
import { compileQuery, isCompiledQuery, type CompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import { expandedSize } from '../graphql/limits/expanded-size.ts';
import { findOperation, isIntrospection } from '../graphql/limits/operation.ts';

export interface CompiledExecutionOptions {
  /** How often an operation of so many fields is interpreted before it is compiled. */
  readonly runsBefore: (fields: number) => number;
  /** Documents whose operations stay compiled. */
  readonly maxCompiled: number;
  /** Fields of the largest operation that is compiled, fragments counted wherever they are spread. */
  readonly maxFields: number;
}

/**
 * To compile a field takes a third of a millisecond; to interpret an operation takes a tenth, and some microseconds for
 * each. A client that sends one after the other, each often enough to have it compiled, makes the server work several
 * times as much as by interpreting, but not a hundred times.
 */
const DEFAULTS: CompiledExecutionOptions = {
  runsBefore: (fields) => fields,
  maxCompiled: 500,
  maxFields: 300,
};

type Result = ExecutionResult | Promise<ExecutionResult>;
type Interpret<R> = (args: ExecutionArgs) => R;

interface Compiled {
  readonly query: CompiledQuery['query'];
  readonly variables: readonly VariableDefinitionNode[];
}

interface Plan {
  runs: number;
  /** Before which run it is compiled. */
  readonly compileAt: number;
  /** Null: not yet, or never. */
  compiled: Compiled | null;
}

/**
 * Runs queries, and events of subscriptions, that come again and again by functions made for them, which takes a
 * third of the time. Results and errors are those of the interpreter, but for errors below what became null by another,
 * which GraphQL leaves open. Mutations are left to it: the database takes
 * nearly all of their time.
 */
export class CompiledExecution {
  readonly #options: CompiledExecutionOptions;
  /** By document, as parsing hands out the same one for the same text, and name of the operation. */
  readonly #plans: LRUCache<DocumentNode, Map<string, Plan>>;

  constructor(options: Partial<CompiledExecutionOptions> = {}) {
    this.#options = { ...DEFAULTS, ...options };
    this.#plans = new LRUCache({ max: this.#options.maxCompiled });
  }

  /** @param interpret runs what is not compiled */
  execute<R>(args: ExecutionArgs, interpret: Interpret<R>): R | Result {
    const compiled = this.#compiledFor(args);
    if (compiled === null || !doVariablesFit(args, compiled.variables)) return interpret(args);
    const result = compiled.query(args.rootValue, args.contextValue, args.variableValues);
    return result instanceof Promise
      ? result.then((settled) => presentResult(settled, args))
      : presentResult(result, args);
  }

  #compiledFor({ schema, document, operationName }: ExecutionArgs): Compiled | null {
    let plans = this.#plans.get(document);
    if (plans === undefined) this.#plans.set(document, (plans = new Map<string, Plan>()));
    const name = operationName ?? '';
    let plan = plans.get(name);
    if (plan === undefined) plans.set(name, (plan = this.#newPlan(document, operationName)));
    if (plan.runs++ === plan.compileAt) plan.compiled = compile(schema, document, operationName);
    return plan.compiled;
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
    return { runs: 0, compileAt: isWorthIt ? runsBefore(fields) : Infinity, compiled: null };
  }
}

function compile(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
): Compiled | null {
  const variables = findOperation(document, operationName)?.definition.variableDefinitions ?? [];
  const compiled = compileQuery(schema, document, operationName ?? undefined);
  return isCompiledQuery(compiled) ? { query: compiled.query, variables } : null;
}

/** The compiled function would take a list for an input object, and has other words for what it refuses. */
function doVariablesFit(
  { schema, variableValues }: ExecutionArgs,
  variables: readonly VariableDefinitionNode[],
): boolean {
  return getVariableValues(schema, variables, variableValues ?? {}, { maxErrors: 1 }).errors === undefined;
}

/**
 * Whether a document has what compiled functions get wrong: directives, which are mixed up where a fragment is spread
 * both with and without one, and a key that would set the prototype of a result.
 */
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

/** The error as the interpreter makes it: with its place in the document. */
function presentError(
  { message, path, locations, originalError }: GraphQLError,
  source?: Source,
): GraphQLError {
  const place =
    source === undefined
      ? {}
      : { source, positions: locations?.map((location) => positionOf(source, location)) ?? null };
  // Of an argument that is missing or null the interpreter blames the document.
  const cause =
    originalError ??
    (message.startsWith('Argument "') ? new GraphQLError(message, place) : new Error(message));
  return new GraphQLError(message, { ...place, path: path ?? null, originalError: cause });
}

/** Which character of the source stands at a line and column, both counted from 1. */
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
