import {
  extendSchema,
  GraphQLScalarType,
  isObjectType,
  parse,
  type DocumentNode,
  type ExecutionResult,
  GraphQLSchema,
  getNamedType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type SelectionNode,
  type SelectionSetNode,
  isInterfaceType,
  type GraphQLField,
} from 'graphql';
import { compileQuery, isCompiledQuery, type CompiledQuery } from 'graphql-jit';
import type { Action } from '../../../domain/action.ts';
import type { GraphQLContext } from '../../../graphql/context.ts';
import { type Answer, SharedText } from '../../../graphql/rendering/answer.ts';
import { valueGiven } from '../../exchange/accept.ts';
import type { PartCache } from './part-cache.ts';
import { findOperation, type Operation } from '../../../graphql/limits/document-limits.ts';
import { isShared } from '../../../graphql/shared-field.ts';

/** Also depends on refs known only from being followed, which the directory stamp does not cover. */
const UNSTAMPED: ReadonlySet<string> = new Set(['summaryParts']);

/** Whether a field's result is cached by the action's revision and directory stamps: it depends on nothing else. */
function isKept(type: GraphQLNamedType, field: GraphQLField<unknown, unknown>): boolean {
  return isShared(type, field) && !UNSTAMPED.has(field.name);
}

function fieldOf(type: GraphQLNamedType, name: string): GraphQLField<unknown, unknown> | null {
  return isObjectType(type) || isInterfaceType(type) ? (type.getFields()[name] ?? null) : null;
}

/** A schema whose root fields are the fields of an action. */
function schemaOfAction(schema: GraphQLSchema): GraphQLSchema {
  const action = schema.getType(ACTION);
  if (!isObjectType(action)) throw new Error('The schema has no actions');
  return new GraphQLSchema({ ...schema.toConfig(), query: action, mutation: null, subscription: null });
}

const ACTION = 'Action';

/** Adjacent shared fields of an action. */
interface PartOfDocument {
  /** An operation whose root is an action. */
  readonly document: DocumentNode;
  /** Names of the variables it uses. */
  readonly variables: readonly string[];
}

interface SplitDocument {
  /** The operation with each part's fields replaced by one field: `sharedText(part: index)`. */
  readonly document: DocumentNode;
  readonly parts: readonly PartOfDocument[];
}

const PART_FIELD = 'sharedText';

const MAX_PARTS = 100;

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/**
 * Splits the shared parts off an operation; `null` if there are none, or if the result could not be reassembled. Expects a
 * validated operation without directives.
 */
function splitDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
): SplitDocument | null {
  const operation = findOperation(document, operationName);
  if (operation === null || !isSimple(operation)) return null;
  const { definition, fragments } = operation;
  const parts: PartOfDocument[] = [];
  const typeInfo = new TypeInfo(schema);
  const toPart = (fields: readonly FieldNode[]): FieldNode => {
    parts.push({ document: documentOf(fields, operation), variables: variablesIn(fields, fragments) });
    return partField(parts.length - 1);
  };
  const changed = visit(
    document,
    visitWithTypeInfo(typeInfo, {
      [Kind.FIELD]: {
        leave(node: FieldNode) {
          const type = getNamedType(typeInfo.getType());
          if (type?.name !== ACTION || node.selectionSet === undefined) return undefined;
          const selections = withParts({ schema, type, fragments }, node.selectionSet, toPart);
          return { ...node, selectionSet: { ...node.selectionSet, selections } };
        },
      },
    }),
  );
  if (parts.length === 0 || parts.length > MAX_PARTS) return null;
  return { document: changed, parts };

  function documentOf(fields: readonly FieldNode[], { fragments: known }: Operation): DocumentNode {
    const { name: _name, ...anonymous } = definition;
    return {
      kind: Kind.DOCUMENT,
      definitions: [
        { ...anonymous, selectionSet: { kind: Kind.SELECTION_SET, selections: fields } },
        ...known.values(),
      ],
    };
  }
}

/** Combines adjacent shared fields into one part each. */
function withParts(
  scope: Scope,
  set: SelectionSetNode,
  toPart: (fields: readonly FieldNode[]) => FieldNode,
): SelectionNode[] {
  const selections: SelectionNode[] = [];
  let run: FieldNode[] = [];
  const end = (): void => {
    if (run.length > 0) selections.push(toPart(run));
    run = [];
  };
  for (const field of fieldsOf(set, scope.fragments)) {
    if (isKeptField(scope, field)) run.push(field);
    else {
      end();
      selections.push(field);
    }
  }
  end();
  return selections;
}

interface Scope {
  readonly schema: GraphQLSchema;
  readonly type: GraphQLNamedType;
  readonly fragments: Fragments;
}

function isKeptField(scope: Scope, node: FieldNode): boolean {
  const { type, fragments, schema } = scope;
  if (node.name.value === '__typename') return true;
  const field = fieldOf(type, node.name.value);
  if (field === null || !isKept(type, field)) return false;
  const below = getNamedType(field.type);
  return node.selectionSet === undefined || areKept({ schema, type: below, fragments }, node.selectionSet);
}

function areKept(scope: Scope, { selections }: SelectionSetNode): boolean {
  const { schema, type, fragments } = scope;
  return selections.every((selection) => {
    if (selection.kind === Kind.FIELD) return isKeptField(scope, selection);
    const fragment =
      selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
    if (fragment === undefined) return false;
    const condition = fragment.typeCondition?.name.value;
    const below = condition === undefined ? type : schema.getType(condition);
    return below !== undefined && areKept({ schema, type: below, fragments }, fragment.selectionSet);
  });
}

/** Fields of an object, including those of its fragments, all of which apply since the document is valid. */
function fieldsOf(set: SelectionSetNode, fragments: Fragments): FieldNode[] {
  const fields = new Map<string, FieldNode>();
  for (const field of allFields(set, fragments)) {
    const key = (field.alias ?? field.name).value;
    if (!fields.has(key)) fields.set(key, field);
  }
  return [...fields.values()];
}

/** No object is selected in several places under one key, which would require merging, and no introspection. */
function isSimple({ definition, fragments }: Operation): boolean {
  function isSimpleSet(set: SelectionSetNode): boolean {
    const seen = new Set<string>();
    return allFields(set, fragments).every((field) => {
      const key = (field.alias ?? field.name).value;
      if (key.startsWith('__') && key !== '__typename') return false;
      if (/^__(?:schema|type)$/.test(field.name.value)) return false;
      if (field.selectionSet === undefined) return true;
      if (seen.has(key)) return false;
      seen.add(key);
      return isSimpleSet(field.selectionSet);
    });
  }
  return isSimpleSet(definition.selectionSet);
}

function allFields({ selections }: SelectionSetNode, fragments: Fragments): FieldNode[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection];
    const fragment =
      selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
    return fragment === undefined ? [] : allFields(fragment.selectionSet, fragments);
  });
}

function variablesIn(fields: readonly FieldNode[], fragments: Fragments): string[] {
  const names = new Set<string>();
  const look = (node: FieldNode | FragmentDefinitionNode): void => {
    visit(node, {
      [Kind.VARIABLE](variable) {
        names.add(variable.name.value);
      },
      [Kind.FRAGMENT_SPREAD](spread) {
        const fragment = fragments.get(spread.name.value);
        if (fragment !== undefined) look(fragment);
      },
    });
  };
  for (const field of fields) look(field);
  return [...names].sort();
}

function partField(index: number): FieldNode {
  return {
    kind: Kind.FIELD,
    alias: { kind: Kind.NAME, value: `__s${String(index)}` },
    name: { kind: Kind.NAME, value: PART_FIELD },
    arguments: [
      {
        kind: Kind.ARGUMENT,
        name: { kind: Kind.NAME, value: 'part' },
        value: { kind: Kind.INT, value: String(index) },
      },
    ],
  };
}

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
