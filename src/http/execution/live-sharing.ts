import { Kind, visit } from 'graphql';
import { expandedSize } from '../../graphql/limits/expanded-size.ts';
import type { Operation } from '../../graphql/limits/operation.ts';
import { valueGiven } from '../exchange/value-given.ts';

/** Upper bound on the fields of an operation with shared results; fragments count at every spread. */
const MAX_FIELDS = 300;

export function isSharable(operation: Operation): boolean {
  return expandedSize(operation, MAX_FIELDS + 1) <= MAX_FIELDS && !hasDirectives(operation);
}

function hasDirectives({ definition, fragments }: Operation): boolean {
  let has = false;
  const visitor = {
    [Kind.DIRECTIVE]() {
      has = true;
    },
  };
  for (const node of [definition, ...fragments.values()]) visit(node, visitor);
  return has;
}

/**
 * Values of variables that may affect the content of an event. Variables of the root field only select events: a resume
 * cursor is different for everybody.
 */
export function usedBelowRoot(
  { definition, fragments }: Operation,
  values: Readonly<Record<string, unknown>>,
): readonly (readonly [string, readonly unknown[]])[] {
  const used = new Set<string>();
  const visitor = {
    [Kind.VARIABLE]({ name }: { readonly name: { readonly value: string } }) {
      used.add(name.value);
    },
  };
  const roots = definition.selectionSet.selections.flatMap((root) =>
    root.kind === Kind.FIELD ? (root.selectionSet ?? []) : root,
  );
  for (const node of [...roots, ...fragments.values()]) visit(node, visitor);
  const names = (definition.variableDefinitions ?? []).map(({ variable }) => variable.name.value);
  return names.filter((name) => used.has(name)).map((name) => [name, valueGiven(values, name)]);
}
