import { encodeNodeId } from '../../../src/domain/node-ids.ts';
import { Viewer } from '../../../src/features/viewer/api.ts';
import { builder } from '../../../src/graphql/builder.ts';
import { parseAddedId } from '../../../src/graphql/global-id.ts';
import type { FeedKey as FeedKeyRecord } from './store.ts';
import { createFeedKey, MAX_FEED_KEYS, readFeedKeys, revokeFeedKey } from './use-cases.ts';

const TYPE = 'FeedKey';
const DIGEST = /^[0-9a-f]{64}$/;

const FeedKey = builder.objectRef<FeedKeyRecord>(TYPE).implement({
  description: "A key by which a feed reader gets the viewer's feed. It opens nothing else.",
  fields: (t) => ({
    id: t.id({
      description: 'Id, by which it is revoked.',
      resolve: ({ digest }) => encodeNodeId(TYPE, digest),
    }),
    name: t.exposeString('name', { description: 'What the viewer calls it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    usedAt: t.expose('usedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used, to an hour; null: never.',
    }),
  }),
});

const NewFeedKey = builder
  .objectRef<{ readonly key: FeedKeyRecord; readonly url: string }>('NewFeedKey')
  .implement({
    description: 'A key of a feed reader with its address.',
    fields: (t) => ({
      key: t.expose('key', { type: FeedKey, description: 'The key.' }),
      url: t.exposeString('url', {
        description:
          'Address of the feed as Atom, with the key in it: who has it reads the feed. It is not shown again. Ends in `.rss` or `.json` instead of `.atom` for these formats.',
      }),
    }),
  });

builder.objectFields(Viewer, (t) => ({
  feedKeys: t.field({
    type: [FeedKey],
    description: 'Keys of feed readers, newest first.',
    extensions: { size: { usual: 2, most: MAX_FEED_KEYS } },
    resolve: (_source, _args, context) => readFeedKeys(context.core, context.session()),
  }),
}));

builder.mutationFields((t) => ({
  createFeedKey: t.field({
    type: NewFeedKey,
    description: `Makes a key by which a feed reader gets the viewer's feed. CONFLICT beyond ${String(MAX_FEED_KEYS)} keys, or if the server has no feeds for readers.`,
    args: {
      name: t.arg.string({
        required: true,
        description: 'What to call it, such as the name of the feed reader; 1 to 100 characters.',
      }),
    },
    resolve: (_root, { name }, context) =>
      context.mutate((session) => createFeedKey(context.core, session, name)),
  }),
  revokeFeedKey: t.field({
    type: Viewer,
    description: 'Revokes a key of the viewer. Within a minute it opens nothing any more. Idempotent.',
    args: { id: t.arg.id({ required: true, description: 'Id of the key.' }) },
    async resolve(_root, { id }, context) {
      const digest = parseAddedId(id, ['id'], TYPE, (key) => (DIGEST.test(key) ? key : null));
      await context.mutate((session) => revokeFeedKey(context.core, session, digest));
      return {};
    },
  }),
}));
