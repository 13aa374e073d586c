import type { UnreadCount as UnreadCountSource } from '../../core/shapes.ts';
import { encodeListId } from '../../domain/node-ids.ts';
import { MAX_LIST_ENTRIES, MAX_LISTS, type ReaderList as ReaderListRecord } from '../../domain/viewer.ts';
import { countUnreadOfLists } from '../../feed/groups/view-counts.ts';
import { sessionBatches } from '../../feed/session/session-batches.ts';
import { builder } from '../../graphql/builder.ts';
import { PAGE_COST, pageArgs, toConnection } from '../../graphql/connection.ts';
import { parseListId } from '../../graphql/global-id.ts';
import type { ListSize } from '../../graphql/limits/cost.ts';
import type { ListArgument } from '../../graphql/limits/variables.ts';
import { type AddedNode, Node } from '../../graphql/types/node.ts';
import { RefConnection } from '../directory/api/ref.ts';
import { UnreadCount } from '../feed/api/unread-count.ts';
import { Follow } from '../follow/api.ts';
import { following } from '../follow/followers.ts';
import { Viewer } from '../viewer/api.ts';
import {
  addToList,
  createList,
  deleteList,
  findList,
  MAX_ADDED,
  MAX_LIST_NAME,
  removeFromList,
  updateList,
} from './lists.ts';

/** Of one list. Those of all lists come from one read, however often an operation asks for them. */
const unreadOf = sessionBatches<string, UnreadCountSource | undefined>(
  async (core, session, ids) => {
    const counts = await countUnreadOfLists(core, session, ids);
    return ids.map((id) => counts.get(id));
  },
  (id) => id,
);

/** All lists are counted with one read. */
const UNREAD_COST: { readonly size: ListSize } = { size: 20 };
const NOT_COUNTED: UnreadCountSource = { count: 0, isExact: false };
const KEY = /^[0-9a-f]{24}$/;

export const ReaderList = builder.objectRef<ReaderListRecord>('ReaderList').implement({
  description:
    'A list that the viewer has made of what they follow. Its items are those of the feed that came by what is in it, or whose actor is in it.',
  interfaces: [Node],
  extensions: {
    node: {
      is: (source) => 'isExclusive' in source,
      load: (key, context) => (KEY.test(key) ? findList(context.session(), key) : undefined),
    } satisfies AddedNode,
  },
  fields: (t) => ({
    id: t.id({
      description: 'Global id. Pass it as `listId` of feed, feedGroups, feedEvents and explainFeedItem.',
      resolve: ({ id }) => encodeListId(id),
    }),
    name: t.exposeString('name', { description: 'What the viewer calls it.' }),
    isExclusive: t.exposeBoolean('isExclusive', {
      description:
        'Whether its items are kept out of the feed and its views, unless they mention or name the viewer.',
    }),
    entries: t.field({
      type: RefConnection,
      description: 'What is in it, by ref id.',
      args: pageArgs(),
      extensions: PAGE_COST,
      resolve: async ({ id }, args, context) =>
        toConnection(await following(context.core, context.session(), args, id), args),
    }),
    unread: t.field({
      type: UnreadCount,
      description:
        'Its unread items. The counts of all lists come from one read; if few of many unread items are in the list, the count is not exact.',
      extensions: UNREAD_COST,
      resolve: async ({ id }, _args, context) =>
        (await unreadOf(context.core, context.session(), id)) ?? NOT_COUNTED,
    }),
  }),
});

builder.objectFields(Viewer, (t) => ({
  lists: t.field({
    type: [ReaderList],
    description: 'The lists that the viewer has made, the oldest first.',
    extensions: { size: { usual: 5, most: MAX_LISTS } },
    resolve: async (_source, _args, context) => [...(await context.session().profile()).lists],
  }),
}));

/** A global id of 24 hexadecimal digits, as it is written. */
const ID_BYTES = encodeListId('0'.repeat(24)).length;

builder.objectFields(Follow, (t) => ({
  listIds: t.field({
    type: ['ID'],
    description: "Global ids of the viewer's lists that it is in.",
    extensions: { maxBytes: MAX_LISTS * ID_BYTES },
    async resolve({ lists }, _args, context) {
      if (lists.length === 0) return [];
      const { lists: all } = await context.session().profile();
      return all.flatMap(({ id }) => (lists.includes(id) ? encodeListId(id) : []));
    },
  }),
}));

builder.queryField('list', (t) =>
  t.field({
    type: ReaderList,
    nullable: true,
    description: 'A list of the viewer; null: they have no such list.',
    args: { id: t.arg.id({ required: true, description: 'Global id of the list.' }) },
    resolve: (_root, { id }, context) => findList(context.session(), parseListId(id, ['id'])),
  }),
);

const NAME = `What to call it; 1 to ${String(MAX_LIST_NAME)} characters.`;

builder.mutationFields((t) => {
  const idArg = t.arg.id({ required: true, description: 'Global id of the list.' });
  const refIdsArg = t.arg.stringList({
    required: true,
    description: `Refs, 1 to ${String(MAX_ADDED)}.`,
    extensions: { maxEntries: MAX_ADDED } satisfies ListArgument,
  });
  return {
    createList: t.field({
      type: ReaderList,
      description: `Makes a list. CONFLICT beyond ${String(MAX_LISTS)} lists.`,
      args: {
        name: t.arg.string({ required: true, description: NAME }),
        isExclusive: t.arg.boolean({
          defaultValue: false,
          description:
            'Whether its items are kept out of the feed and its views, unless they mention or name the viewer.',
        }),
      },
      resolve: (_root, { name, isExclusive }, context) =>
        context.mutate((session) =>
          createList(context.core, session, { name, isExclusive: isExclusive ?? false }),
        ),
    }),
    updateList: t.field({
      type: ReaderList,
      description: 'Changes a list. NOT_FOUND: there is no such list.',
      args: {
        id: idArg,
        name: t.arg.string({ description: `${NAME} Default: unchanged.` }),
        isExclusive: t.arg.boolean({
          description:
            'Whether its items are kept out of the feed and its views, unless they mention or name the viewer. Default: unchanged.',
        }),
      },
      resolve: (_root, { id, ...changes }, context) =>
        context.mutate((session) =>
          updateList(context.core, session, parseListId(id, ['id']), {
            name: changes.name ?? null,
            isExclusive: changes.isExclusive ?? null,
          }),
        ),
    }),
    deleteList: t.id({
      description: 'Deletes a list; what was in it stays followed. Returns its id. Idempotent.',
      args: { id: idArg },
      async resolve(_root, { id }, context) {
        await context.mutate((session) => deleteList(context.core, session, parseListId(id, ['id'])));
        return id;
      },
    }),
    addToList: t.field({
      type: ReaderList,
      description: `Puts refs that the viewer follows into a list: all or none. One whose follow ends leaves all lists. CONFLICT names those that are not followed, and beyond ${String(MAX_LIST_ENTRIES)} refs. NOT_FOUND: there is no such list.`,
      args: { id: idArg, refIds: refIdsArg },
      resolve: (_root, { id, refIds }, context) =>
        context.mutate((session) => addToList(context.core, session, parseListId(id, ['id']), refIds)),
    }),
    removeFromList: t.field({
      type: ReaderList,
      description:
        'Takes refs out of a list; those that are not in it are ignored. They stay followed. NOT_FOUND: there is no such list.',
      args: { id: idArg, refIds: refIdsArg },
      resolve: (_root, { id, refIds }, context) =>
        context.mutate((session) => removeFromList(context.core, session, parseListId(id, ['id']), refIds)),
    }),
  };
});
