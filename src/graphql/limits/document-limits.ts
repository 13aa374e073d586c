import {
  Kind,
  visit,
  type DocumentNode,
  type FragmentDefinitionNode,
  type SelectionSetNode,
  OperationTypeNode,
  type OperationDefinitionNode,
} from 'graphql';

export interface DocumentLimits {
  /** Nesting of fields, without introspection, which GraphQL itself limits. */
  readonly maxDepth: number;
  readonly maxAliases: number;
  readonly maxDirectives: number;
}

/** Describes the first limit that a document exceeds; `null` if it exceeds none. */
export function documentFault(document: DocumentNode, limits: DocumentLimits): string | null {
  let aliases = 0;
  let directives = 0;
  visit(document, {
    Field(node) {
      if (node.alias !== undefined) aliases += 1;
    },
    Directive() {
      directives += 1;
    },
  });
  if (aliases > limits.maxAliases) return tooMany('aliases', limits.maxAliases, aliases);
  if (directives > limits.maxDirectives) return tooMany('directives', limits.maxDirectives, directives);
  const depth = documentDepth(document);
  if (depth > limits.maxDepth)
    return `The document is ${String(depth)} fields deep, at most ${String(limits.maxDepth)} are allowed`;
  return null;
}

function tooMany(what: string, max: number, got: number): string {
  return `The document has ${String(got)} ${what}, at most ${String(max)} are allowed`;
}

function documentDepth(document: DocumentNode): number {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  const fragmentDepths = new Map<string, number>();

  function ofFragment(name: string): number {
    const known = fragmentDepths.get(name);
    if (known !== undefined) return known;
    // Also terminates for a fragment that spreads itself, which validation rejects.
    fragmentDepths.set(name, 0);
    const depth = ofSelections(fragments.get(name)?.selectionSet);
    fragmentDepths.set(name, depth);
    return depth;
  }

  function ofSelections(set: SelectionSetNode | undefined): number {
    let depth = 0;
    for (const selection of set?.selections ?? []) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) depth = Math.max(depth, ofFragment(selection.name.value));
      else if (selection.kind === Kind.INLINE_FRAGMENT)
        depth = Math.max(depth, ofSelections(selection.selectionSet));
      else if (!selection.name.value.startsWith('__'))
        depth = Math.max(depth, 1 + ofSelections(selection.selectionSet));
    }
    return depth;
  }

  let depth = 0;
  for (const definition of document.definitions)
    if (definition.kind === Kind.OPERATION_DEFINITION)
      depth = Math.max(depth, ofSelections(definition.selectionSet));
  return depth;
}

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
  // One look at each fragment: a short document can spread them more often than can be counted.
  const seen = new Set<string>();
  function isMeta(set: SelectionSetNode): boolean {
    return set.selections.every((selection) => {
      if (selection.kind === Kind.FIELD) return selection.name.value.startsWith('__');
      if (selection.kind === Kind.INLINE_FRAGMENT) return isMeta(selection.selectionSet);
      const name = selection.name.value;
      if (seen.has(name)) return true;
      seen.add(name);
      const fragment = fragments.get(name);
      return fragment !== undefined && isMeta(fragment.selectionSet);
    });
  }
  return definition.operation === OperationTypeNode.QUERY && isMeta(definition.selectionSet);
}
