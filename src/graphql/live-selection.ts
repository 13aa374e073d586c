import { Kind, type GraphQLResolveInfo, type SelectionSetNode } from 'graphql';

/** What a field's resolver knows of the selection below it. */
export type Selected = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>;

/** Whether a selection contains a fragment on a type, even one that a directive may skip. */
export function asksForType({ fieldNodes, fragments }: Selected, typeName: string): boolean {
  function asks({ selections }: SelectionSetNode): boolean {
    return selections.some((selection) => {
      if (selection.kind === Kind.FIELD) return false;
      const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value];
      return (
        fragment !== undefined &&
        (fragment.typeCondition?.name.value === typeName || asks(fragment.selectionSet))
      );
    });
  }
  return fieldNodes.some(({ selectionSet }) => selectionSet !== undefined && asks(selectionSet));
}

/** Whether a field's selection contains a field of this name, even one that a directive may skip. */
export function asksForField({ fieldNodes, fragments }: Selected, fieldName: string): boolean {
  function asks({ selections }: SelectionSetNode): boolean {
    return selections.some((selection) => {
      if (selection.kind === Kind.FIELD) return selection.name.value === fieldName;
      const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value];
      return fragment !== undefined && asks(fragment.selectionSet);
    });
  }
  return fieldNodes.some(({ selectionSet }) => selectionSet !== undefined && asks(selectionSet));
}
