import {
  extendSchema,
  GraphQLScalarType,
  isObjectType,
  parse,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
} from 'graphql';
import { compileQuery, isCompiledQuery, type CompiledQuery } from 'graphql-jit';
import type { Action } from '../../../domain/action.ts';
import type { GraphQLContext } from '../../../graphql/context.ts';
import { ACTION, schemaOfAction } from '../../../graphql/action-parts.ts';
import type { Answer } from '../../../graphql/rendering/answer.ts';
import { SharedText } from '../../../graphql/rendering/json-text.ts';
import { valueGiven } from '../../exchange/value-given.ts';
import type { PartCache } from './part-cache.ts';
import { PART_FIELD, splitDocument } from './split.ts';

type Variables = Readonly<Record<string, unknown>>;

interface Part {
  /** Unique among the parts of all operations. */
  readonly id: number;
  readonly variables: readonly string[];
  readonly render: CompiledQuery['query'];
}

/** A compiled operation whose results contain `SharedText`. */
export interface SharedQuery {
  readonly query: CompiledQuery['query'];
  readonly parts: readonly Part[];
}

/** Context of an operation whose answer is limited. */
export interface AnsweringContext extends GraphQLContext {
  readonly answer: Answer;
}

interface SharingContext extends AnsweringContext {
  readonly sharedParts: SharedParts;
}

/** Compiles operations so that shared parts are rendered once for all viewers. */
export class SharedExecution {
  readonly #cache: PartCache;
  readonly #schema: GraphQLSchema;
  readonly #withParts: GraphQLSchema;
  readonly #ofAction: GraphQLSchema;
  #parts = 0;

  constructor(schema: GraphQLSchema, cache: PartCache) {
    this.#cache = cache;
    this.#schema = schema;
    this.#withParts = withPartField(schema);
    this.#ofAction = schemaOfAction(schema);
  }

  /** `null`: the operation has no shared part, or cannot be compiled. */
  compile(document: DocumentNode, operationName: string | null | undefined): SharedQuery | null {
    const split = splitDocument(this.#schema, document, operationName);
    if (split === null) return null;
    const compiled = compileQuery(this.#withParts, split.document, operationName ?? undefined);
    if (!isCompiledQuery(compiled)) return null;
    const parts: Part[] = [];
    for (const part of split.parts) {
      const render = compileQuery(this.#ofAction, part.document);
      if (!isCompiledQuery(render)) return null;
      parts.push({ id: this.#parts++, variables: part.variables, render: render.query });
    }
    return { query: compiled.query, parts };
  }

  /** `null`: a part had an error, whose location only a run of the whole operation can determine. */
  async execute(
    { query, parts }: SharedQuery,
    args: {
      readonly rootValue: unknown;
      readonly contextValue: AnsweringContext;
      readonly variables: Variables;
    },
  ): Promise<ExecutionResult | null> {
    const sharedParts = new SharedParts(parts, this.#cache, args);
    const context: SharingContext = { ...args.contextValue, sharedParts };
    const result = await query(args.rootValue, context, args.variables);
    return sharedParts.hasFailed ? null : result;
  }
}

/** The parts of one run of an operation. */
class SharedParts {
  readonly #parts: readonly Part[];
  readonly #cache: PartCache;
  readonly #context: AnsweringContext;
  readonly #variables: Variables;
  readonly #prefixes: readonly string[];
  hasFailed = false;

  constructor(
    parts: readonly Part[],
    cache: PartCache,
    { contextValue, variables }: { readonly contextValue: AnsweringContext; readonly variables: Variables },
  ) {
    this.#parts = parts;
    this.#cache = cache;
    this.#context = contextValue;
    this.#variables = variables;
    this.#prefixes = parts.map(({ id, variables: names }) => {
      const values =
        names.length === 0 ? '' : JSON.stringify(names.map((name) => valueGiven(variables, name)));
      return `${String(id)}:${contextValue.locale}:${values}:`;
    });
  }

  /** No query if the part is cached and no stamp has changed. */
  textOf(index: number, action: Action): SharedText | Promise<SharedText> {
    const key = (this.#prefixes[index] ?? '') + action.id;
    const { directoryStamp } = this.#context.session();
    const known = directoryStamp === null ? null : this.#cache.peek(key, action, directoryStamp);
    return known === null ? this.#lookUp(index, key, action) : this.#counted(known);
  }

  async #lookUp(index: number, key: string, action: Action): Promise<SharedText> {
    const directory = await this.#context.session().directory();
    const known = directory === null ? null : this.#cache.find(key, action, directory);
    if (known !== null) return this.#counted(known);
    const text = await this.#render(index, action);
    if (directory !== null) this.#cache.put(key, action, directory, text);
    return this.#counted(text);
  }

  /** Parts are put together at the end, and may be too much before. */
  #counted(part: SharedText): SharedText {
    this.#context.answer.add(part.text.length);
    return part;
  }

  async #render(index: number, action: Action): Promise<SharedText> {
    const part = this.#parts[index];
    if (part === undefined) throw new Error('An operation has no such part');
    const { data, errors } = await part.render(action, this.#context, this.#variables);
    if (errors !== undefined || data == null) {
      this.hasFailed = true;
      throw new Error('A shared part of an action had errors');
    }
    return new SharedText((await this.#context.answer.textOf(data)).slice(1, -1));
  }
}

/**
 * The schema with an additional field of actions. Clients cannot use it, since documents are validated against the original.
 */
function withPartField(schema: GraphQLSchema): GraphQLSchema {
  const extended = extendSchema(
    schema,
    parse(`scalar SharedText extend type ${ACTION} { ${PART_FIELD}(part: Int!): SharedText! }`),
  );
  const action = extended.getType(ACTION);
  const scalar = extended.getType('SharedText');
  if (!isObjectType(action) || !(scalar instanceof GraphQLScalarType))
    throw new Error('The schema cannot be extended');
  const field = action.getFields()[PART_FIELD];
  if (field === undefined) throw new Error('The schema cannot be extended');
  field.resolve = (source: Action, { part }: { readonly part: number }, { sharedParts }: SharingContext) =>
    sharedParts.textOf(part, source);
  return extended;
}
