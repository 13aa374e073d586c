import { MAX_LIST_ENTRIES, MAX_LISTS } from '../../src/domain/viewer.ts';
import { createList } from '../../src/features/lists/lists.ts';
import { openSession } from '../../src/feed/session/open-session.ts';
import type { InProcess } from '../harness/in-process.ts';
import { FEED_REF } from './feed.ts';
import { type Asked, historyOf, loadReader } from './few-match.ts';
import { SHOWN_NODE } from './queries.ts';
import { informPlanner, type RawWorld } from './raw.ts';

const READERS = ['plain', 'sorted'] as const;
type Reader = (typeof READERS)[number];

/** So many views are counted with one another. */
const COUNTED_VIEWS = 6;
/** What a score is made of: ten variables. */
const RANK = `likes * 3.0 + comments * 5.0 + reshares + reactions * 2.0 + impressions - ageHours * 0.7 + relationship
  + (isFollowed ? 2.0 : 0.0) + (reasons.exists(one, one == 'MENTION') ? 4.0 : 0.0) + (type == 'Custom' ? 1.0 : 0.0)`;

/** The configuration of the host, as a file of its own. */
export function configOfLists(): string {
  const label = { en: 'View' };
  const filter = { not: { types: ['Liked'] } };
  const counted: Readonly<Record<string, object>> = Object.fromEntries(
    Array.from({ length: COUNTED_VIEWS }, (_, n) => [`counted${String(n)}`, { label, filter }]),
  );
  const views = {
    usual: { label, filter, counts: false },
    mentions: { label, filter: { reasons: ['MENTION'] }, counts: false },
    hot: { label, order: { rank: RANK }, counts: false },
    ...counted,
  };
  return `export default ${JSON.stringify({ views })};\n`;
}

export function listReaderOf(reader: Reader): string {
  // The history mentions this one.
  return `reader-${reader}`;
}

/** Two readers of the same history: of one all that else is followed is in exclusive lists, as many as there may be. */
export async function loadListReaders(
  world: RawWorld,
  fanfare: InProcess,
  { length, entries }: ListSizes,
): Promise<void> {
  const actions = await historyOf(world, fanfare, length);
  await loadReader(world, fanfare, { userId: listReaderOf('plain'), refIds: [FEED_REF], actions });
  const userId = listReaderOf('sorted');
  // What few of the actions carry is in a list, so their items have left the feed.
  const sorted = Array.from({ length: MAX_LISTS * entries }, (_, n) =>
    n === 0 ? 'site-rare' : `sorted-${String(n)}`,
  );
  await loadReader(world, fanfare, { userId, refIds: [FEED_REF, ...sorted], actions });
  const { core } = fanfare.app;
  const session = openSession(core, fanfare.identity(userId));
  for (let n = 0; n < MAX_LISTS; n += 1) {
    const { id } = await createList(core, session, { name: `List ${String(n)}`, isExclusive: true });
    const refIds = sorted.slice(n * entries, (n + 1) * entries);
    await world.follows.updateMany({ followerId: userId, refId: { $in: refIds } }, { $set: { lists: [id] } });
  }
  await informPlanner(world);
}

interface ListSizes {
  /** Actions of the history. */
  readonly length: number;
  /** Refs of each list. */
  readonly entries: number;
}

export const LIST_SIZES: Readonly<Record<'full' | 'short' | 'smoke', ListSizes>> = {
  full: { length: 100_000, entries: MAX_LIST_ENTRIES },
  short: { length: 6_000, entries: 100 },
  smoke: { length: 120, entries: 2 },
};

const NODES = `edges { cursor node { ${SHOWN_NODE} } } pageInfo { hasNextPage endCursor hasPreviousPage startCursor }`;
const UNREAD = 'unread { count isExact }';
const page = (args: string, more = ''): string =>
  `{ feed${args === '' ? '' : `(${args})`} { ${NODES} ${more} } }`;
const PAGE = 'page';
const COUNTED = 'page with unread count';
const BADGE = 'unread count';
const TOP = 'TOP';
const DOWN = 'page down';
const PAGES_DOWN = 8;

/** Each beside what it is to cost about as much as. */
export async function askedOfLists(
  ask: (reader: Reader, query: string) => Promise<string>,
): Promise<Asked<Reader>> {
  let cursor = '';
  for (let n = 0; n < PAGES_DOWN; n += 1) {
    const answer = await ask('plain', page(cursor === '' ? '' : `after: "${cursor}"`));
    cursor = /"endCursor":"([^"]+)"/.exec(answer)?.[1] ?? cursor;
  }
  return {
    [PAGE]: ['plain', page(''), PAGE],
    [COUNTED]: ['plain', page('', UNREAD), COUNTED],
    [BADGE]: ['plain', '{ viewer { unreadCount { count isExact } } }', BADGE],
    [TOP]: ['plain', page('order: TOP'), TOP],
    [DOWN]: ['plain', page(`after: "${cursor}"`), DOWN],
    'a view with a filter, page with unread count': ['plain', page('view: "usual"', UNREAD), COUNTED, 1.2],
    'a view of mentions, page with unread count': ['plain', page('view: "mentions"', UNREAD), COUNTED],
    'six views with unread counts': ['plain', `{ viewer { views { name ${UNREAD} } } }`, BADGE, 2],
    'a ranked view': ['plain', page('view: "hot"'), TOP, 1.2],
    'exclusive lists': ['sorted', page(''), PAGE, 1.3],
    'exclusive lists, page with unread count': ['sorted', page('', UNREAD), COUNTED, 1.3],
    'page up': ['plain', page(`last: 25, before: "${cursor}"`), DOWN, 1.2],
  };
}
