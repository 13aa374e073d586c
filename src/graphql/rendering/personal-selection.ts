import {
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLSchema,
  type InlineFragmentNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Operation } from '../limits/document-limits.ts';
import { isShared } from '../shared-field.ts';

/** The fields an operation selects at one place of its result, whatever the type there. */
export interface Place {
  /** The field; `null`: fields of several names, in different types. */
  field: string | null;
  /** At least one field here depends on the viewer, so the whole place counts as personal. */
  isPersonal: boolean;
  /** By response key. */
  readonly below: Map<string, Place>;
}

/** An operation, split into the part that is equal for all viewers and the personal part. */
export interface PersonalSelection {
  /** The operation reduced to its personal part; `null`: there is none. */
  readonly document: DocumentNode | null;
  readonly places: Place;
}

/**
 * Splits a subscription without directives. Places are identified by response keys: if two types have different fields there
 * and one is personal, both count as personal, since results do not contain their type.
 */
export function personalSelection(schema: GraphQLSchema, operation: Operation): PersonalSelection {
  const walk = new Walk(schema, operation);
  const { definition, fragments } = operation;
  const root = schema.getRootType(definition.operation);
  if (root == null) throw new Error(`The schema has no ${definition.operation}`);
  const places = newPlace(null);
  walk.mark(root, definition.selectionSet, places);
  const selectionSet = walk.personal(root, definition.selectionSet, places);
  if (selectionSet === null) return { document: null, places };
  const definitions = [{ ...definition, selectionSet }, ...fragments.values()];
  return { document: { kind: Kind.DOCUMENT, definitions }, places };
}

function newPlace(field: string | null): Place {
  return { field, isPersonal: false, below: new Map() };
}

class Walk {
  readonly #schema: GraphQLSchema;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;

  constructor(schema: GraphQLSchema, { fragments }: Operation) {
    this.#schema = schema;
    this.#fragments = fragments;
  }

  /** Marks personal places. */
  mark(type: GraphQLCompositeType, { selections }: SelectionSetNode, place: Place): void {
    for (const selection of selections) {
      const inner = this.#fragment(type, selection);
      if (inner !== null) this.mark(inner.type, inner.selectionSet, place);
      else if (selection.kind === Kind.FIELD) this.#markField(type, selection, place);
    }
  }

  /** The personal part of a selection; `null`: none. */
  personal(
    type: GraphQLCompositeType,
    { selections }: SelectionSetNode,
    place: Place,
  ): SelectionSetNode | null {
    const kept = selections.flatMap((selection): SelectionNode[] => {
      const inner = this.#fragment(type, selection);
      if (inner === null)
        return selection.kind === Kind.FIELD ? this.#personalField(type, selection, place) : [];
      const selectionSet = this.personal(inner.type, inner.selectionSet, place);
      return selectionSet === null ? [] : [fragmentOn(inner.type, selectionSet)];
    });
    return kept.length === 0 ? null : { kind: Kind.SELECTION_SET, selections: kept };
  }

  #markField(type: GraphQLCompositeType, field: FieldNode, place: Place): void {
    const key = keyOf(field);
    const name = field.name.value;
    const there = place.below.get(key) ?? newPlace(name);
    if (there.field !== name) there.field = null;
    place.below.set(key, there);
    const definition = fieldsOf(type)?.[name];
    // `__typename` is not among a type's fields and exists on every type.
    if (definition === undefined) return;
    if (!isShared(type, definition)) there.isPersonal = true;
    const inner = getNamedType(definition.type);
    if (field.selectionSet !== undefined && isCompositeType(inner))
      this.mark(inner, field.selectionSet, there);
  }

  #personalField(type: GraphQLCompositeType, field: FieldNode, place: Place): SelectionNode[] {
    const there = place.below.get(keyOf(field));
    if (there?.isPersonal === true) return [field];
    const definition = fieldsOf(type)?.[field.name.value];
    if (there === undefined || definition === undefined || field.selectionSet === undefined) return [];
    const inner = getNamedType(definition.type);
    const selectionSet = isCompositeType(inner) ? this.personal(inner, field.selectionSet, there) : null;
    return selectionSet === null ? [] : [{ ...field, selectionSet }];
  }

  /** Selection and type of a fragment; `null`: it is not a fragment. */
  #fragment(
    type: GraphQLCompositeType,
    selection: SelectionNode,
  ): { readonly type: GraphQLCompositeType; readonly selectionSet: SelectionSetNode } | null {
    if (selection.kind === Kind.FIELD) return null;
    const fragment =
      selection.kind === Kind.INLINE_FRAGMENT ? selection : this.#fragments.get(selection.name.value);
    if (fragment === undefined) return null;
    const named = fragment.typeCondition === undefined ? type : this.#type(fragment.typeCondition.name.value);
    return { type: named, selectionSet: fragment.selectionSet };
  }

  #type(name: string): GraphQLCompositeType {
    const type = this.#schema.getType(name);
    if (!isCompositeType(type)) throw new Error(`A fragment on ${name}, which has no fields`);
    return type;
  }
}

function keyOf({ alias, name }: FieldNode): string {
  return (alias ?? name).value;
}

function fieldsOf(type: GraphQLCompositeType) {
  return isObjectType(type) || isInterfaceType(type) ? type.getFields() : undefined;
}

function fragmentOn({ name }: GraphQLCompositeType, selectionSet: SelectionSetNode): InlineFragmentNode {
  const typeCondition = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: name } } as const;
  return { kind: Kind.INLINE_FRAGMENT, typeCondition, selectionSet };
}
