import {
  Kind,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLResolveInfo,
  type InlineFragmentNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { ActionTexts } from '../domain/action.ts';
import { isUnnamed } from '../domain/block.ts';
import { nameIn } from '../descriptors/registry.ts';
import type { ReaderSession } from '../feed/session/reader-session.ts';
import type { GraphQLContext } from './context.ts';
import { MEMBER, refName } from '../feed/loads/names.ts';

/** The selection below a field, as its resolver knows it. */
export type Selected = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>;

/** Whether a selection contains a fragment on a type, even one that a directive may skip. */
export function asksForType(selected: Selected, typeName: string): boolean {
  return asksFor(selected, (node) => node.kind !== Kind.FIELD && node.typeCondition?.name.value === typeName);
}

/** Whether a field's selection contains a field of this name, even one that a directive may skip. */
export function asksForField(selected: Selected, fieldName: string): boolean {
  return asksFor(selected, (node) => node.kind === Kind.FIELD && node.name.value === fieldName);
}

function asksFor(
  { fieldNodes, fragments }: Selected,
  isWanted: (node: FieldNode | InlineFragmentNode | FragmentDefinitionNode) => boolean,
): boolean {
  const seen = new Set<SelectionNode | FragmentDefinitionNode>();
  const asks = ({ selections }: SelectionSetNode): boolean =>
    selections.some((selection) => {
      const node = selection.kind === Kind.FRAGMENT_SPREAD ? fragments[selection.name.value] : selection;
      // One look at each fragment: a short document can spread them a million times.
      if (node === undefined || seen.has(node)) return false;
      seen.add(node);
      return isWanted(node) || (node.kind !== Kind.FIELD && asks(node.selectionSet));
    });
  return fieldNodes.some(({ selectionSet }) => selectionSet !== undefined && asks(selectionSet));
}

/** Current name of an id: the label of its ref, else the name of its member. `null`: it has no name. */
export async function liveName(session: ReaderSession, id: string): Promise<string | null> {
  return (await refName(session, id))?.label ?? (await session.load(MEMBER, id))?.name ?? null;
}

/** Current name for a copied name in a descriptor; the copy itself if the thing has no name any more. */
export async function liveField(
  context: GraphQLContext,
  action: ActionTexts,
  { idField, name }: { readonly idField: string; readonly name: string },
): Promise<unknown> {
  const { descriptor: stored } = action;
  const id = stored[idField];
  const isNamed = typeof id === 'string' && !isUnnamed(action, id);
  const found = (isNamed ? await liveName(context.session(), id) : null) ?? stored[name] ?? null;
  return typeof found === 'string' ? nameIn(context.locale, found) : found;
}
