import { buildSchema, parse, validate } from 'graphql';
import { readFileSync } from 'node:fs';
import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  ITEM_FIELDS,
  notificationEventsOf,
  notificationsOf,
  queryOf,
  subscriptionOf,
} from '../../src/documents.ts';
import { actionEventsOf, sliceEventsOf } from '../../src/list-documents.ts';
import { MUTATION_NAMES, mutationOf } from '../../src/mutations.ts';
import type {
  ActionEvent,
  Channel,
  DeliveryReason,
  FeedEvent,
  FeedFilter,
  FeedOrder,
  FeedState,
  NotificationEvent,
  NotificationFilter,
  NotificationKind,
  Scope,
  SliceEvent,
} from '../../src/index.ts';
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

const ADDED = { action: 'descriptor { tags }', comment: 'data', notification: 'count { count }' };

test.each(
  [{}, ADDED].flatMap((fields) => [
    notificationsOf(fields),
    ...[false, true].map((withCounts) => notificationEventsOf(fields, withCounts)),
    sliceEventsOf(fields),
    actionEventsOf(fields),
  ]),
)('the documents of notifications, slices and threads match the schema: %#', (document) => {
  expect(validate(schema, parse(document))).toEqual([]);
});

const eventsOf = (union: string): Set<string> =>
  new Set(schema.getPossibleTypes(schema.getType(union) as never).map(({ name }) => name));

test('the hand-written types match the schema', () => {
  expectTypeOf<Scope>().toEqualTypeOf<api.Scope>();
  expectTypeOf<DeliveryReason>().toEqualTypeOf<api.DeliveryReason>();
  expectTypeOf<FeedState>().toEqualTypeOf<api.FeedState>();
  expectTypeOf<FeedOrder>().toEqualTypeOf<api.FeedOrder>();
  expectTypeOf<keyof FeedFilter>().toEqualTypeOf<keyof api.FeedFilter>();
  expectTypeOf<NotificationKind>().toEqualTypeOf<api.NotificationKind>();
  expectTypeOf<Channel>().toEqualTypeOf<api.Channel>();
  expectTypeOf<keyof NotificationFilter>().toEqualTypeOf<keyof api.NotificationFilter>();
  const handled: readonly (FeedEvent['__typename'] | 'FeedReady' | 'FeedResync')[] = [
    ...(['FeedItemAdded', 'FeedItemUpdated', 'FeedItemRemoved', 'UnreadCountChanged'] as const),
    ...(['FeedReady', 'FeedResync'] as const),
  ];
  expect(eventsOf('FeedEvent')).toEqual(new Set(handled));
  const sliced: readonly (SliceEvent['__typename'] | 'SliceReady' | 'SliceResync')[] = [
    ...(['ActionAdded', 'ActionUpdated', 'ActionRemoved', 'SliceReady', 'SliceResync'] as const),
  ];
  expect(eventsOf('SliceEvent')).toEqual(new Set(sliced));
  const ofAction: readonly (ActionEvent['__typename'] | 'ActionReady' | 'ActionResync')[] = [
    ...(['ActionChanged', 'InteractionAdded', 'InteractionUpdated', 'InteractionRemoved'] as const),
    ...(['ActionGone', 'ActionReady', 'ActionResync'] as const),
  ];
  expect(eventsOf('ActionEvent')).toEqual(new Set(ofAction));
  const notified: readonly (
    | NotificationEvent['__typename']
    | 'NotificationsReady'
    | 'NotificationsResync'
  )[] = [
    ...(['NotificationAdded', 'NotificationUpdated', 'NotificationRemoved'] as const),
    ...(['NotificationCountsChanged', 'NotificationsReady', 'NotificationsResync'] as const),
  ];
  expect(eventsOf('NotificationEvent')).toEqual(new Set(notified));
});

test.each(MUTATION_NAMES)('the mutation %s matches the schema', (name) => {
  for (const fields of [{}, ADDED])
    expect(validate(schema, parse(mutationOf(name, undefined, fields)))).toEqual([]);
});

test("an omitted argument keeps the server's default", () => {
  expect(mutationOf('follow', { refId: 'r' })).not.toContain('copyLimit');
  expect(mutationOf('follow', { refId: 'r', copyLimit: 5 })).toContain('copyLimit: $copyLimit');
});
