import { buildSchema, parse, validate } from 'graphql';
import { readFileSync } from 'node:fs';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { ITEM_FIELDS, queryOf, subscriptionOf } from '../../src/documents.ts';
import { MUTATION_NAMES, mutationOf } from '../../src/mutations.ts';
import type { DeliveryReason, FeedEvent, FeedFilter, FeedOrder, FeedState, Scope } from '../../src/index.ts';
import type * as api from '../../../../test/support/generated/graphql.ts';

const schema = buildSchema(
  readFileSync(new URL('../../../../schema/schema.graphql', import.meta.url), 'utf8'),
);

describe.each([
  ['subscription', (fields: string) => subscriptionOf(fields, false)],
  ['subscription with the unread count', (fields: string) => subscriptionOf(fields, true)],
  ['query', (fields: string) => queryOf(fields)],
  ['query with the total', (fields: string) => queryOf(fields, true)],
])('the %s', (_what, documentOf) => {
  test.each([ITEM_FIELDS, 'id', 'id action { descriptor { ... on CustomDescriptor { verb } } }'])(
    'matches the schema with the fields %j',
    (fields) => {
      expect(validate(schema, parse(documentOf(fields)))).toEqual([]);
    },
  );
});

test('the hand-written documents match the schema', () => {
  expectTypeOf<Scope>().toEqualTypeOf<api.Scope>();
  expectTypeOf<DeliveryReason>().toEqualTypeOf<api.DeliveryReason>();
  expectTypeOf<FeedState>().toEqualTypeOf<api.FeedState>();
  expectTypeOf<FeedOrder>().toEqualTypeOf<api.FeedOrder>();
  expectTypeOf<keyof FeedFilter>().toEqualTypeOf<keyof api.FeedFilter>();
  const events = schema.getPossibleTypes(schema.getType('FeedEvent') as never).map(({ name }) => name);
  const handled: readonly (FeedEvent['__typename'] | 'FeedReady' | 'FeedResync')[] = [
    ...(['FeedItemAdded', 'FeedItemUpdated', 'FeedItemRemoved', 'UnreadCountChanged'] as const),
    ...(['FeedReady', 'FeedResync'] as const),
  ];
  expect(new Set(events)).toEqual(new Set(handled));
});

test.each(MUTATION_NAMES)('the mutation %s matches the schema', (name) => {
  expect(validate(schema, parse(mutationOf(name)))).toEqual([]);
});

test("an omitted argument keeps the server's default", () => {
  expect(mutationOf('follow', { refId: 'r' })).not.toContain('copyLimit');
  expect(mutationOf('follow', { refId: 'r', copyLimit: 5 })).toContain('copyLimit: $copyLimit');
});
