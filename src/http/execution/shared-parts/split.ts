import {
  getNamedType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { findOperation, type Operation } from '../../../graphql/limits/operation.ts';
import { ACTION, fieldOf, isKept } from '../../../graphql/action-parts.ts';

/** Adjacent shared fields of an action. */
export interface PartOfDocument {
  /** An operation whose root is an action. */
  readonly document: DocumentNode;
  /** Names of the variables it uses. */
  readonly variables: readonly string[];
}

export interface SplitDocument {
  /** The operation with each part's fields replaced by one field: `sharedText(part: index)`. */
  readonly document: DocumentNode;
  readonly parts: readonly PartOfDocument[];
}

export const PART_FIELD = 'sharedText';

const MAX_PARTS = 100;

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/**
 * Splits the shared parts off an operation; `null` if there are none, or if the result could not be reassembled. Expects a
 * validated operation without directives.
 */
export function splitDocument(
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
function fieldsOf({ selections }: SelectionSetNode, fragments: Fragments): FieldNode[] {
  const fields = new Map<string, FieldNode>();
  const add = (found: readonly FieldNode[]): void => {
    for (const field of found) {
      const key = (field.alias ?? field.name).value;
      if (!fields.has(key)) fields.set(key, field);
    }
  };
  for (const selection of selections)
    if (selection.kind === Kind.FIELD) add([selection]);
    else {
      const fragment =
        selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
      if (fragment !== undefined) add(fieldsOf(fragment.selectionSet, fragments));
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
