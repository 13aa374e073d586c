import type { Core } from '../../core.ts';
import type { FeedEntry, FeedPosition, NewsfeedItem } from '../../../domain/newsfeed-item.ts';
import { decodeGroups, encodeGroups, groupMark } from '../../../domain/cursor.ts';
import type { ActionId } from '../../../domain/action.ts';
import { clock } from '../../../lib/clock.ts';
import type { ReaderSession } from '../../session/reader-session.ts';
import { sessionBatches } from '../../session/session-batches.ts';
import type { FeedFilter, FeedGroup, FeedGroupPage, PageArgs } from '../../shapes.ts';
import { checkFeedFilter } from '../filters.ts';
import { openStages, type PageStages } from '../read-page.ts';
import { GroupScan } from './group-scan.ts';
import { collectPage, pageSize } from '../paging.ts';

/** Groups on a page. */
export const GROUPS = { standard: 25, most: 50 } as const;

/**
 * A page of the reader's feed in groups. From the top it costs as much as a page of the feed with all of the groups' items.
 * The additional cost after a cursor, and of the items inside the groups, is described in `group-members.ts`.
 * @throws FanfareError BAD_USER_INPUT, BAD_CURSOR
 */
export async function readFeedGroups(
  core: Core,
  session: ReaderSession,
  args: PageArgs & { readonly filter?: FeedFilter | null | undefined },
): Promise<FeedGroupPage> {
  const size = pageSize(args.first, GROUPS);
  const { userId } = session.identity;
  const list = `groups:${userId}`;
  const cursor = args.after == null ? null : decodeGroups(list, args.after);
  const asOf = cursor?.asOf ?? clock.now();
  const filter = checkFeedFilter(args.filter);
  const feed = openStages(core, session, { filter, order: 'RELEVANCY' });
  const scan = openScan(core, feed);
  // With another filter a group has other items: one that was listed with that filter can be listed again.
  const filtered = groupMark(list, JSON.stringify(filter));
  const listed = [...(cursor?.listed ?? [])];
  const before = new Set(listed);
  const wasListed = (groupKey: string): boolean => before.has(groupMark(filtered, groupKey));
  const page = await collectPage<FeedPosition, FeedEntry, NewsfeedItem>({
    size,
    after: cursor === null ? null : { relevancy: cursor.time, actionId: cursor.actionId },
    scan: (after, limit) => scan.scan(after, limit),
    select: scan.opening(cursor === null ? null : wasListed),
    cursorOf: ({ relevancy, actionId, action: { groupKey } }) => {
      if (groupKey !== null) listed.push(groupMark(filtered, groupKey));
      return encodeGroups(list, { time: relevancy, actionId, asOf, listed });
    },
  });
  const edges = page.edges.map(({ cursor: at, node }) => ({ cursor: at, node: scan.groupOf(node) }));
  const groups = edges.map(({ node }) => node);
  return {
    ...page,
    edges,
    state: (await feed.lookUp()).isRebuilding ? 'REBUILDING' : 'READY',
    countTotal: () => scan.countTotal(groups),
    countUnread: () => scan.countUnread(groups),
  };
}

/**
 * One group of the reader's feed; `null` when none of its items is in the feed. Groups that a session requests in one turn of
 * the event loop are read together, apart from one look-up for each key.
 */
export const getFeedGroup = sessionBatches<string, FeedGroup | null>(readGroupsByKey);

async function readGroupsByKey(
  core: Core,
  session: ReaderSession,
  wanted: readonly string[],
): Promise<(FeedGroup | null)[]> {
  const feed = openStages(core, session, { filter: checkFeedFilter(null), order: 'RELEVANCY' });
  const reader = await session.profile();
  const scan = openScan(core, feed);
  const keys = [...new Set(wanted)];
  const shared = keys.filter((key) => !OBJECT_ID.test(key));
  const [members, items] = await Promise.all([
    Promise.all(shared.map((key) => core.actionGroups.anyOf(key))),
    core.feedReader
      .find(
        reader,
        keys.filter((key) => OBJECT_ID.test(key)),
      )
      .then((entries) => feed.select(entries)),
  ]);
  const groups = new Map<string, FeedGroup | null>();
  for (const item of items) if (item.action.groupKey === null) groups.set(item.actionId, scan.groupOf(item));
  const found = await Promise.all(members.map(async (id) => (id === null ? null : scan.find(id))));
  for (const [index, key] of shared.entries()) groups.set(key, found[index] ?? null);
  return wanted.map((groupKey) => groups.get(groupKey) ?? null);
}

const OBJECT_ID = /^[0-9a-f]{24}$/;

function openScan({ actionGroups, feedReader }: Core, feed: PageStages): GroupScan {
  return new GroupScan({
    ...feed,
    actionGroups,
    endedSnoozes: async () => (await feed.lookUp()).endedSnoozes(),
    find: async (ids: readonly ActionId[]) => feedReader.find(await feed.lookUp(), ids),
  });
}
