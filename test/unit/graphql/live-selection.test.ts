import { Kind, parse, type FieldNode, type FragmentDefinitionNode } from 'graphql';
import { expect, test } from 'vitest';
import { asksForField, asksForType } from '../../../src/graphql/live-selection.ts';

type Selected = Parameters<typeof asksForType>[0];

function asks(document: string, how = (info: Selected) => asksForType(info, 'Wanted')): boolean {
  const { definitions } = parse(document);
  const fragments: Record<string, FragmentDefinitionNode> = {};
  const fieldNodes: FieldNode[] = [];
  for (const definition of definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
    else if (definition.kind === Kind.OPERATION_DEFINITION)
      for (const selection of definition.selectionSet.selections)
        if (selection.kind === Kind.FIELD) fieldNodes.push(selection);
  return how({ fieldNodes, fragments });
}

test.each([
  ['an inline fragment', '{ events { cursor ... on Wanted { n } } }'],
  ['a fragment within one', '{ events { ... { ... on Base { ... on Wanted { n } } } } }'],
  ['a named fragment', '{ events { ...W } } fragment W on Wanted { n }'],
  ['a named fragment of another', '{ events { ...B } } fragment B on Base { ... on Wanted { n } }'],
  ['one of two selections of the field', '{ events { cursor } events { ... on Wanted { n } } }'],
  ['a directive that may leave it out', '{ events { ... on Wanted @include(if: false) { n } } }'],
])('finds a type in %s', (_where, document) => {
  expect(asks(document)).toBe(true);
});

test.each([
  ['nothing', '{ events }'],
  ['others', '{ events { cursor ... on Other { n } ...O } } fragment O on Other { n }'],
  ['it in a field below', '{ events { cursor below { ... on Wanted { n } } } }'],
  ['it in a fragment nobody uses', '{ events { cursor } } fragment W on Wanted { n }'],
])('does not find it where %s is asked for', (_what, document) => {
  expect(asks(document)).toBe(false);
});

test.each([
  ['{ feed { edges { cursor } unread { count } } }', true],
  ['{ feed { ...F } } fragment F on FeedConnection { ... { new: unread { count } } }', true],
  ['{ feed { unread @include(if: false) { count } } }', true],
  ['{ feed { edges { unread } } }', false],
  ['{ feed { unread: state } } fragment F on FeedConnection { unread }', false],
])('whether %s selects the field: %s', (document, isAsked) => {
  expect(asks(document, (info) => asksForField(info, 'unread'))).toBe(isAsked);
});

test('looks at each fragment once, however often others spread it', () => {
  const spreads = Array.from({ length: 100 }, (_, n) => {
    const next = `...F${String(n + 1)}`;
    return `fragment F${String(n)} on Base { ${next} ${next} }`;
  });
  const document = `{ events { ...F0 } } ${spreads.join(' ')} fragment F100 on Base`;
  expect(asks(`${document} { n }`)).toBe(false);
  expect(asks(`${document} { ... on Wanted { n } }`)).toBe(true);
});
