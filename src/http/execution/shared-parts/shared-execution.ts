import {
  extendSchema,
  isObjectType,
  type GraphQLObjectType,
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
import type { GraphQLContext } from '../../../graphql/context.ts';
import { type Answer, SharedText } from '../../../graphql/rendering/answer.ts';
import { valueGiven } from '../../exchange/accept.ts';
import type { PartCache } from './part-cache.ts';
import { findOperation, type Operation } from '../../../graphql/limits/document-limits.ts';
import { isShared, type RenderedOnce } from '../../../graphql/shared-field.ts';

/** Also depends on refs known only from being followed, which the directory stamp does not cover. */
const UNSTAMPED: ReadonlySet<string> = new Set(['summaryParts']);

/** Whether a field's result is cached by its object's version and directory stamps: it depends on nothing else. */
function isKept(type: GraphQLNamedType, field: GraphQLField<unknown, unknown>): boolean {
  return isShared(type, field) && !UNSTAMPED.has(field.name);
}

function fieldOf(type: GraphQLNamedType, name: string): GraphQLField<unknown, unknown> | null {
  return isObjectType(type) || isInterfaceType(type) ? (type.getFields()[name] ?? null) : null;
}

/** `null`: objects of the type have no parts. */
function renderedOnce({ extensions }: GraphQLObjectType): RenderedOnce<unknown> | null {
  return (extensions as { readonly renderedOnce?: RenderedOnce<unknown> }).renderedOnce ?? null;
}

/** Adjacent shared fields of an object. */
interface PartOfDocument {
  readonly type: GraphQLObjectType;
  readonly of: RenderedOnce<unknown>;
  /** An operation whose root is such an object. */
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
  const changed = visit(
    document,
    visitWithTypeInfo(typeInfo, {
      [Kind.FIELD]: {
        leave(node: FieldNode) {
          const type = getNamedType(typeInfo.getType());
          if (!isObjectType(type) || node.selectionSet === undefined) return undefined;
          const of = renderedOnce(type);
          if (of === null) return undefined;
          const selections = withParts({ schema, type, fragments }, node.selectionSet, (fields) => {
            const ofPart = documentOf(fields, operation);
            parts.push({ type, of, document: ofPart, variables: variablesIn(fields, fragments) });
            return partField(parts.length - 1);
          });
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
  readonly of: RenderedOnce<unknown>;
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
  /** Schemas whose root fields are those of a type. */
  readonly #schemasOf: ReadonlyMap<string, GraphQLSchema>;
  #parts = 0;

  constructor(schema: GraphQLSchema, cache: PartCache) {
    this.#cache = cache;
    this.#schema = schema;
    const types = Object.values(schema.getTypeMap()).flatMap((type) =>
      isObjectType(type) && renderedOnce(type) !== null ? [type] : [],
    );
    this.#withParts = withPartField(schema, types);
    const only = { mutation: null, subscription: null };
    this.#schemasOf = new Map(
      types.map((query) => [query.name, new GraphQLSchema({ ...schema.toConfig(), query, ...only })]),
    );
  }

  /** `null`: the operation has no shared part, or cannot be compiled. */
  compile(document: DocumentNode, operationName: string | null | undefined): SharedQuery | null {
    const split = splitDocument(this.#schema, document, operationName);
    if (split === null) return null;
    const compiled = compileQuery(this.#withParts, split.document, operationName ?? undefined);
    if (!isCompiledQuery(compiled)) return null;
    const parts: Part[] = [];
    for (const { type, of, variables, document: ofPart } of split.parts) {
      const render = compileQuery(this.#schemasOf.get(type.name) ?? this.#schema, ofPart);
      if (!isCompiledQuery(render)) return null;
      parts.push({ id: this.#parts++, of, variables, render: render.query });
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
  textOf(index: number, source: unknown): SharedText | Promise<SharedText> {
    const part = this.#parts[index];
    if (part === undefined) throw new Error('An operation has no such part');
    const key = (this.#prefixes[index] ?? '') + part.of.keyOf(source);
    const version = part.of.versionOf(source);
    const { directoryStamp: stamp } = this.#context.session();
    const known = version === null || stamp === null ? null : this.#cache.peek(key, version, stamp);
    return known === null ? this.#lookUp(part, key, source) : this.#counted(known);
  }

  async #lookUp(part: Part, key: string, source: unknown): Promise<SharedText> {
    const version = part.of.versionOf(source);
    const directory = version === null ? null : await this.#context.session().directory();
    if (version === null || directory === null) return this.#counted(await this.#render(part, source));
    const known = this.#cache.find(key, version, directory);
    if (known !== null) return this.#counted(known);
    const text = await this.#render(part, source);
    // Reads during the rendering may have shown that it depends on more.
    if (part.of.versionOf(source) === version)
      this.#cache.put(key, { version, ids: part.of.idsIn(source) }, directory, text);
    return this.#counted(text);
  }

  /** Parts are put together at the end, and may be too much before. */
  #counted(part: SharedText): SharedText {
    this.#context.answer.add(part.text.length);
    return part;
  }

  async #render(part: Part, source: unknown): Promise<SharedText> {
    const { data, errors } = await part.render(source, this.#context, this.#variables);
    if (errors !== undefined || data == null) {
      this.hasFailed = true;
      throw new Error('A shared part had errors');
    }
    return new SharedText((await this.#context.answer.textOf(data)).slice(1, -1));
  }
}

/**
 * The schema with an additional field of types with parts. Clients cannot use it, since documents are validated against the
 * original.
 */
function withPartField(schema: GraphQLSchema, types: readonly GraphQLObjectType[]): GraphQLSchema {
  const fields = types.map(({ name }) => `extend type ${name} { ${PART_FIELD}(part: Int!): SharedText! }`);
  const extended = extendSchema(schema, parse(['scalar SharedText', ...fields].join(' ')));
  for (const { name } of types) {
    const type = extended.getType(name);
    const field = isObjectType(type) ? type.getFields()[PART_FIELD] : undefined;
    if (field === undefined) throw new Error('The schema cannot be extended');
    field.resolve = (source: unknown, { part }: { readonly part: number }, { sharedParts }: SharingContext) =>
      sharedParts.textOf(part, source);
  }
  return extended;
}
