import { ObjectId } from 'mongodb';
import { MAX_BLOCKS } from '../../src/domain/block.ts';
import { MAX_SPANS } from '../../src/domain/follow-span.ts';
import { MAX_MUTES, MAX_PHRASES } from '../../src/domain/mute.ts';
import { MAX_BOOKMARKS } from '../../parts/bookmarks/src/use-cases.ts';
import type { ActionDocument } from '../../src/storage/documents/documents.ts';
import { readerActionId } from '../../src/storage/documents/reader-action-id.ts';
import type { FeedDocument, ItemMarkDocument } from '../../src/storage/documents/reader-documents.ts';
import type { InProcess } from '../harness/in-process.ts';
import { SHOWN_ACTION } from '../harness/watcher.ts';
import { ratingInput } from './actions.ts';
import { loadNotifications } from './feed.ts';
import { type Asked, loadReader, templateOf } from './few-match.ts';
import { SHOWN_NODE } from './queries.ts';
import { informPlanner, load, type RawWorld } from './raw.ts';

/** How much a reader has of everything. */
interface Amounts extends Readonly<Record<string, number>> {
  readonly blocks: number;
  readonly mutes: number;
  /** Among the mutes. */
  readonly phrases: number;
  readonly hidden: number;
  readonly archived: number;
  readonly unread: number;
  readonly bookmarks: number;
  /** Spans of one follow. */
  readonly spans: number;
}

interface FullSizes {
  /** Actions that all of them have. */
  readonly length: number;
  readonly much: Amounts;
  readonly most: Amounts;
}

const MUCH: Amounts = {
  ...{ blocks: 3_000, mutes: 0, phrases: 0, hidden: 500, archived: 500, unread: 500, bookmarks: 500 },
  spans: 1,
};
const MOST: Amounts = {
  ...{ blocks: MAX_BLOCKS, mutes: MAX_MUTES, phrases: MAX_PHRASES, bookmarks: MAX_BOOKMARKS },
  ...{ hidden: 4_000, archived: 4_000, unread: 1_000, spans: MAX_SPANS },
};
const FEW = { blocks: 120, mutes: 20, phrases: 5, hidden: 20, archived: 20, unread: 20, bookmarks: 30 };

export const FULL_SIZES: Readonly<Record<'full' | 'short' | 'smoke', FullSizes>> = {
  full: { length: 12_000, much: MUCH, most: MOST },
  short: { length: 12_000, much: MUCH, most: MOST },
  smoke: { length: 120, much: { ...FEW, spans: 1 }, most: { ...FEW, spans: 3 } },
};

const READERS = ['plain', 'much', 'most'] as const;
type Reader = (typeof READERS)[number];

export function fullReaderOf(reader: Reader): string {
  return `full-${reader}`;
}

const INFO = 'pageInfo { hasNextPage endCursor }';
const OF_NOTIFICATION =
  'id kind at summary isSeen isRead count { count isExact } actors { memberId name } action { id }';
const REFS = 20;
const refOf = (index: number): string => `full-ref-${String(index % REFS)}`;

const PAGES: Readonly<Record<string, string>> = {
  page: `{ feed { edges { cursor node { ${SHOWN_NODE} } } ${INFO} } }`,
  'page of 100': `{ feed(first: 100) { edges { cursor node { ${SHOWN_NODE} } } ${INFO} } }`,
  badge: '{ viewer { unreadCount { count isExact } } }',
  unread: `{ feed(filter: { unreadOnly: true }) { edges { cursor node { ${SHOWN_NODE} } } ${INFO} } }`,
  total: '{ feed(first: 1) { total { count isExact } } }',
  slice: `{ slice(refId: "${refOf(0)}") { edges { cursor node { ${SHOWN_ACTION} } } ${INFO} } }`,
  notifications: `{ notifications { edges { cursor node { ${OF_NOTIFICATION} } } ${INFO} unseen { count isExact } } }`,
  bookmarks: `{ viewer { bookmarks { edges { cursor node { ${SHOWN_ACTION} } } ${INFO} } } }`,
};

const nameOf = (what: string, reader: Reader): string =>
  `${what} of a reader who has ${reader === 'plain' ? 'done nothing' : reader === 'much' ? 'much' : 'all there may be'}`;

/** What is asked for by each of them, beside the same of who has done nothing. An export has all there is, and stands for itself. */
export const FULL: Asked<Reader> = Object.fromEntries(
  READERS.flatMap((reader) => [
    ...Object.entries(PAGES).map(
      ([what, query]) => [nameOf(what, reader), [reader, query, nameOf(what, 'plain')]] as const,
    ),
    [
      nameOf('export', reader),
      [reader, `{ memberExport(memberId: "${fullReaderOf(reader)}") }`, nameOf('export', reader)],
    ] as const,
  ]),
);

/** Newest items that none of them has read. */
const UNREAD = 50;
const ACTORS = 53;

/** Readers of the same actions, a minute apart, who have done nothing, much and as much as there may be. */
export async function loadFullReaders(
  world: RawWorld,
  fanfare: InProcess,
  { length, ...sizes }: FullSizes,
): Promise<void> {
  const usual = await templateOf(world, fanfare, ratingInput(0, [{ id: refOf(0) }]));
  const newest = Date.now() - 60_000;
  // What is newer has the higher id, as ids begin with the time of recording.
  const ids = Array.from({ length }, () => new ObjectId()).reverse();
  const actions = Array.from({ length }, (_, index): ActionDocument => {
    const time = new Date(newest - index * 60_000);
    const times = { conducted: time, recorded: time, latest: time };
    const actorId = `actor-${String(index % ACTORS)}`;
    const refs = [{ id: refOf(index), type: 'site', label: refOf(index) }];
    return { ...usual, ...times, _id: ids[index] ?? new ObjectId(), actorId, refs, refIds: [refOf(index)] };
  });
  await load(world.actions, length, (index) => actions[index] ?? usual);
  const refIds = Array.from({ length: REFS }, (_, index) => refOf(index));
  for (const reader of READERS) {
    const userId = fullReaderOf(reader);
    await loadReader(world, fanfare, { userId, refIds, actions });
    await loadNotifications(world, userId, actions.slice(0, 30));
    await bookmarked(world, userId, actions.slice(0, 30));
    await fanfare.app.core.feeds.markRead(userId, actions[UNREAD]?.latest ?? new Date());
    if (reader !== 'plain') await fill(world, fanfare, { userId, actions, amounts: sizes[reader] });
  }
  await informPlanner(world);
}

interface Filled {
  readonly userId: string;
  readonly actions: readonly ActionDocument[];
  readonly amounts: Amounts;
}

async function fill(
  world: RawWorld,
  { app }: InProcess,
  { userId, actions, amounts }: Filled,
): Promise<void> {
  const { db } = world;
  const { blocks, hidden, archived, unread, bookmarks, mutes, phrases, spans } = amounts;
  const at = new Date();
  // Two members who publish are blocked, and two are muted.
  const memberOf = (index: number, first: number): string =>
    index < 2 ? `actor-${String(first + index)}` : `nobody-${String(index)}`;
  await load(
    db.collection<{ _id: { userId: string; otherId: string }; own: Date }>('blocks'),
    blocks,
    (index) => ({ _id: { userId, otherId: memberOf(index, 10) }, own: at }),
  );
  await app.core.feeds.markBlocks([userId]);
  await app.core.feeds.renewBlocks([userId]);
  const states = [
    ...Array.from({ length: hidden }, () => ({ state: 'HIDDEN' as const, at })),
    ...Array.from({ length: archived }, () => ({ state: 'ARCHIVED' as const, at })),
    ...Array.from({ length: unread }, () => ({ isUnread: true as const })),
  ];
  const marked = spread(states, actions);
  await load(db.collection<ItemMarkDocument>('itemMarks'), marked.length, (index) => {
    const { mark, action } = marked[index] ?? { mark: {}, action: undefined };
    return { _id: readerActionId(userId, action?._id.toHexString() ?? ''), ...mark };
  });
  await app.core.feeds.markHasMarks(userId, { hasUnreadMarks: unread > 0 });
  await bookmarked(world, userId, actions.slice(30, bookmarks));
  await db.collection<FeedDocument>('feeds').updateOne(
    { _id: userId },
    {
      $set: {
        mutes: Array.from({ length: mutes }, (_, index) =>
          index < phrases
            ? {
                kind: 'PHRASE' as const,
                value: `never said ${String(index)}`,
                text: `Never said ${String(index)}`,
              }
            : { kind: 'MEMBER' as const, value: memberOf(index - phrases, 20) },
        ),
      },
    },
  );
  const since = (index: number): Date => new Date(at.getTime() - (10 * spans - index) * 1_000);
  if (spans > 1)
    await world.follows.updateOne(
      { followerId: userId, refId: refOf(1) },
      {
        $set: {
          spans: [
            ...Array.from({ length: spans - 1 }, (_, index) => ({
              since: since(index),
              until: since(index + 1),
            })),
            { since: new Date(0) },
          ],
        },
      },
    );
}

/** Gives each mark an action, so that marks of each kind are everywhere among them. */
function spread<M>(
  marks: readonly M[],
  actions: readonly ActionDocument[],
): readonly { readonly mark: M; readonly action: ActionDocument }[] {
  // Prime to the number of marks, so that each is met once.
  const step = 7_919;
  return actions.flatMap((action, index) => {
    const taken = Math.floor(((index + 1) * marks.length) / actions.length);
    const before = Math.floor((index * marks.length) / actions.length);
    const mark = marks[(before * step) % marks.length];
    return taken === before || mark === undefined ? [] : [{ mark, action }];
  });
}

function bookmarked({ db }: RawWorld, userId: string, actions: readonly ActionDocument[]): Promise<void> {
  return load(
    db.collection<{ _id: ReturnType<typeof readerActionId>; at: Date }>('bookmarks'),
    actions.length,
    (index) => ({
      _id: readerActionId(userId, actions[index]?._id.toHexString() ?? ''),
      at: new Date(Date.now() - index),
    }),
  );
}
