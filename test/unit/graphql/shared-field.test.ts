import { isObjectType, type GraphQLResolveInfo } from 'graphql';
import { expect, test } from 'vitest';
import { descriptorTypes } from '../../../src/descriptors/registry.ts';
import { buildSchema } from '../../../src/app/schema.ts';
import { isShared, type Sharing } from '../../../src/graphql/shared-field.ts';

/** Everything that is shown to several viewers from one execution. A field that is added here must not depend on the viewer. */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  Subscription: ['actionEvents', 'feedEvents', 'sliceEvents'],
  ActionAdded: ['action'],
  ActionChanged: ['action'],
  ActionUpdated: ['action'],
  InteractionAdded: ['interaction'],
  InteractionUpdated: ['interaction'],
  FeedItemAdded: ['item'],
  FeedItemUpdated: ['item'],
  NewsfeedItem: ['action'],
  Action: [
    ...[
      'actor',
      'commentsVersion',
      'conducted',
      'content',
      'descriptor',
      'editedAt',
      'engagement',
      'expiresAt',
      'id',
      'isHidden',
      'publishAt',
      'refs',
    ],
    ...['scope', 'version'],
  ],
  ActionContent: ['body', 'media', 'rating'],
  Media: ['alt', 'blurhash', 'height', 'kind', 'url', 'width'],
  Rating: ['max', 'value'],
  Count: ['count', 'isExact'],
  Engagement: ['comments', 'lastInteraction', 'likes', 'reactions', 'reshares'],
  FeedGroup: ['actorCount', 'actors', 'count', 'isUnread', 'relevancy'],
  ReactionCount: ['count', 'reaction'],
  Interaction: ['actor', 'at', 'data', 'editedAt', 'id', 'kind', 'parentId', 'reaction', 'state', 'text'],
  Member: ['data', 'departmentId', 'id', 'imageUrl', 'memberId', 'name', 'supervisorId', 'teamId', 'url'],
  Ref: ['data', 'id', 'imageUrl', 'label', 'refId', 'type', 'url'],
  // The object is of one reader, and is never below what several are shown.
  Notification: [
    'action',
    'actorCount',
    'actors',
    'at',
    'count',
    'id',
    'isRead',
    'isSeen',
    'kind',
    'summary',
  ],
  Report: ['id'],
  SummaryPart: ['member', 'ref', 'text'],
  UnknownDescriptor: ['data', 'summary', 'summaryParts', 'tags', 'type'],
};

test('these fields, and those of descriptors, do not depend on the viewer', async () => {
  const descriptors = descriptorTypes().map(({ type, fields }) => [
    `${type}Descriptor`,
    [...new Set([...Object.keys(fields), 'summary', 'summaryParts', 'tags', 'type'])].sort(),
  ]);
  const found = Object.values((await buildSchema()).getTypeMap()).flatMap((type) => {
    if (!isObjectType(type)) return [];
    const fields = Object.values(type.getFields()).filter((field) => isShared(type, field));
    return fields.length === 0 ? [] : [[type.name, fields.map(({ name }) => name).sort()]];
  });
  expect(Object.fromEntries(found)).toEqual({ ...SHARED, ...Object.fromEntries(descriptors) });
});

test('fields that are read without execution use only their object', async () => {
  const schema = await buildSchema();
  const plain = Object.values(schema.getTypeMap()).flatMap((type) => {
    if (!isObjectType(type)) return [];
    const fields = Object.values(type.getFields()).filter(
      ({ extensions }) => (extensions as Sharing).isPlain === true,
    );
    return fields.map((field) => ({ name: `${type.name}.${field.name}`, field }));
  });
  const ofItems = ['id', 'isArchived', 'isUnread', 'reasons', 'relevancy', 'snoozedUntil'];
  expect(plain.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['Subscription.feedEvents', ...ofItems.map((field) => `NewsfeedItem.${field}`)]),
  );
  const source = {
    ...{ userId: 'ann', actionId: '0123456789abcdef01234567', relevancy: new Date(0), reasons: [] },
    group: { key: 'FOLLOW:2026-01-01' },
  };
  const forbidden = new Proxy({}, { get: () => expect.unreachable('A plain field goes by who asks') });
  for (const { field } of plain) {
    expect(
      field.args.filter(
        ({ name }) => !['actionId', 'after', 'filter', 'listId', 'refId', 'view'].includes(name),
      ),
    ).toEqual([]);
    const value: unknown = field.resolve?.(source, {}, forbidden, forbidden as GraphQLResolveInfo);
    expect(value).not.toBeInstanceOf(Promise);
  }
});
