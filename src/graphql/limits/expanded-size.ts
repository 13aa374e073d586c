import { Kind, type SelectionSetNode } from 'graphql';
import type { Operation } from './operation.ts';

/** Counts up to `limit`: a short document can expand to a huge one by nested fragments. Expects a validated document. */
export function expandedSize({ definition, fragments }: Operation, limit: number): number {
  const fragmentSizes = new Map<string, number>();

  function ofFragment(name: string): number {
    const known = fragmentSizes.get(name);
    if (known !== undefined) return known;
    const set = fragments.get(name)?.selectionSet;
    const size = set === undefined ? 0 : ofSelections(set);
    fragmentSizes.set(name, size);
    return size;
  }

  function ofSelections({ selections }: SelectionSetNode): number {
    let size = 0;
    for (const selection of selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) size += ofFragment(selection.name.value);
      else if (selection.kind === Kind.INLINE_FRAGMENT) size += ofSelections(selection.selectionSet);
      else size += 1 + (selection.selectionSet === undefined ? 0 : ofSelections(selection.selectionSet));
    }
    return Math.min(size, limit);
  }

  return ofSelections(definition.selectionSet);
}
