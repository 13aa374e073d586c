import {
  Kind,
  OperationTypeNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';

/** One operation of a document with the fragments it may use. */
export interface Operation {
  readonly definition: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

/** The operation to run; `null` when there is none of that name, or several and no name was given. */
export function findOperation(document: DocumentNode, name: string | null | undefined): Operation | null {
  const fragments = new Map<string, FragmentDefinitionNode>();
  const operations: OperationDefinitionNode[] = [];
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
    if (definition.kind === Kind.OPERATION_DEFINITION) operations.push(definition);
  }
  const matching =
    name == null ? operations : operations.filter((operation) => operation.name?.value === name);
  const [definition] = matching;
  return definition === undefined || matching.length > 1 ? null : { definition, fragments };
}

/** Whether a validated operation contains nothing but introspection. */
export function isIntrospection({ definition, fragments }: Operation): boolean {
  function isMeta(set: SelectionSetNode): boolean {
    return set.selections.every((selection) => {
      if (selection.kind === Kind.FIELD) return selection.name.value.startsWith('__');
      if (selection.kind === Kind.INLINE_FRAGMENT) return isMeta(selection.selectionSet);
      const fragment = fragments.get(selection.name.value);
      return fragment !== undefined && isMeta(fragment.selectionSet);
    });
  }
  return definition.operation === OperationTypeNode.QUERY && isMeta(definition.selectionSet);
}
