import { ObjectId } from 'mongodb';
import { userKey } from '../../src/domain/audience.ts';
import type { FeedEntry } from '../../src/domain/newsfeed-item.ts';
import type { ActionDocument } from '../../src/storage/documents/documents.ts';
import { blockMember } from '../../src/features/blocks/blocks.ts';
import { addMute } from '../../src/features/mutes/mutes.ts';
import { openSession } from '../../src/feed/session/open-session.ts';
import type { ItemMarkDocument } from '../../src/storage/documents/reader-documents.ts';
import { readerActionId } from '../../src/storage/documents/reader-action-id.ts';
import type { InProcess } from '../harness/in-process.ts';
import { ratingInput } from './actions.ts';
import { FEED_REF } from './feed.ts';
import { SHOWN_NODE } from './queries.ts';
import { informPlanner, load, type RawWorld } from './raw.ts';

/** Newest entries that a feed has stored, by default. */
const STORED = 1_000;
/** One action of so many is by somebody else, of another type, with another tag and ref, and names its reader. */
const RARE = 400;
const LOUD = 'actor-loud';
const DAY = 86_400_000;

const INFO = 'pageInfo { hasNextPage endCursor }';
const NODES = `edges { cursor node { ${SHOWN_NODE} } } ${INFO}`;
const GROUPS = `edges { cursor node { id relevancy isUnread count { count isExact } items(first: 1) { ${SHOWN_NODE} } } } ${INFO}`;
const page = (args = ''): string => `{ feed${args} { ${NODES} } }`;
const filtered = (filter: string): string => page(`(filter: { ${filter} })`);

/** Readers by what they have done. */
const READERS = ['plain', 'mutes member', 'blocks member', 'mutes type', 'archived all but five'] as const;
type Reader = (typeof READERS)[number];

/** The page of a reader who has done nothing, by which all others are measured. */
export const PLAIN = 'page of a reader who has done nothing';

/**
 * What is asked for, by whom, the name of that by which it is measured, and how many times that it may be. Default: 3 times the page
 * of a reader who has done nothing.
 */
export type Asked<R> = Readonly<
  Record<string, readonly [reader: R, query: string, beside?: string, most?: number]>
>;

export const FEW: Asked<Reader> = {
  [PLAIN]: ['plain', page()],
  'mutes a loud member': ['mutes member', page()],
  'blocks a loud member': ['blocks member', page()],
  'mutes the usual type': ['mutes type', page()],
  'inbox kept empty': ['archived all but five', page()],
  'inbox kept empty: badge': ['archived all but five', '{ viewer { unreadCount { count isExact } } }'],
  'inbox kept empty: groups': ['archived all but five', `{ feedGroups { ${GROUPS} } }`],
  'inbox kept empty: RECENT': ['archived all but five', page('(order: RECENT)')],
  'inbox kept empty: total': ['archived all but five', '{ feed(first: 1) { total { count isExact } } }'],
  'filter by type': ['plain', filtered('types: ["Custom"]')],
  'filter by actor': ['plain', filtered('actorIds: ["actor-1"]')],
  'filter by tag': ['plain', filtered('tags: ["rare"]')],
  'filter by ref': ['plain', filtered('refId: "site-rare"')],
  'filter by reason': ['plain', filtered('reasons: [MENTION]')],
  'filter by type, groups': ['plain', `{ feedGroups(filter: { types: ["Custom"] }) { ${GROUPS} } }`],
  'filter by type, a muted member': ['mutes member', filtered('types: ["ApplicationRating"]')],
};

export function readerOf(reader: Reader): string {
  return `reader ${reader}`.replaceAll(' ', '-');
}

/** Readers who follow one ref with so many actions, a minute apart, as the server stores all of that. */
export async function loadFewMatch(world: RawWorld, fanfare: InProcess, length: number): Promise<void> {
  const actions = await historyOf(world, fanfare, length);
  const { core } = fanfare.app;
  for (const name of READERS) {
    const userId = readerOf(name);
    await loadReader(world, fanfare, { userId, refIds: [FEED_REF], actions });
    const session = openSession(core, fanfare.identity(userId));
    if (name === 'mutes member') await addMute(core, session, { memberId: LOUD });
    if (name === 'blocks member') await blockMember(core, session, LOUD);
    if (name === 'mutes type') await addMute(core, session, { type: 'ApplicationRating' });
    if (name === 'archived all but five') await archiveAllButFive(world, fanfare, userId, actions);
  }
  await informPlanner(world);
}

/** A reader who has followed these for long, with the newest of these actions in the stored feed, the newest first. */
export async function loadReader(
  world: RawWorld,
  { app: { core } }: InProcess,
  {
    userId,
    refIds,
    actions,
  }: { userId: string; refIds: readonly string[]; actions: readonly ActionDocument[] },
): Promise<void> {
  const since = new Date(Date.now() - 3_650 * DAY);
  await load(world.follows, refIds.length, (index) => ({
    ...{ _id: new ObjectId(), followerId: userId, refId: refIds[index] ?? '' },
    ...{ active: true, spans: [{ since }] },
  }));
  await core.feeds.touch(userId, new Date());
  const entries = actions.slice(0, STORED + 1).map(({ _id, latest, mentions }): FeedEntry => ({
    ...{ actionId: _id.toHexString(), relevancy: latest },
    reasons: mentions.includes(userId) ? ['FOLLOW', 'MENTION'] : ['FOLLOW'],
  }));
  const floor = entries[STORED] ?? null;
  await core.feedStore.fill(userId, entries.slice(0, STORED), { isCompleteDownTo: floor });
  if (floor !== null) await core.feeds.raiseFloor(userId, floor, new Date(Date.now() + 3_650 * DAY));
}

/** Fifty refs have nearly all actions. */
const BUSY = 50;
const refOf = (index: number): string => `ref-${String(index)}`;

/** What is asked for by a reader with many follows. */
export const MANY: Asked<'few' | 'many'> = {
  [PLAIN]: ['few', page()],
  'many follows': ['many', page()],
  'filter by ref': ['many', filtered(`refId: "${refOf(7)}"`)],
  'filter by a quiet ref': ['many', filtered(`refId: "${refOf(BUSY + 7)}"`)],
  RECENT: ['many', page('(order: RECENT)')],
  TOP: ['many', page('(order: TOP)'), PLAIN, 10],
  total: ['many', '{ feed(first: 1) { total { count isExact } } }', PLAIN, 10],
  following: ['many', '{ viewer { following(first: 100) { edges { cursor node { id label } } } } }'],
};

/** A reader of many refs and one of few, with so many actions over some time. */
export async function loadManyFollows(
  world: RawWorld,
  fanfare: InProcess,
  { follows, length, ms }: { follows: number; length: number; ms: number },
): Promise<void> {
  const usual = await templateOf(world, fanfare, { ...ratingInput(0, [{ id: FEED_REF }]), actorId: LOUD });
  const newest = Date.now() - 60_000;
  const actions = Array.from({ length }, (_, index): ActionDocument => {
    const time = new Date(newest - Math.floor((index * ms) / length));
    const refId = refOf(index % 8 === 0 ? BUSY + ((index * 7) % (follows - BUSY)) : index % BUSY);
    const times = { conducted: time, recorded: time, latest: time };
    const refs = [{ id: refId, type: 'thing', label: refId }];
    return { ...usual, ...times, _id: new ObjectId(), refs, refIds: [refId] };
  });
  await load(world.actions, length, (index) => actions[index] ?? usual);
  const refIds = Array.from({ length: follows }, (_, index) => refOf(index));
  await loadReader(world, fanfare, { userId: 'many', refIds, actions });
  const few = refIds.slice(0, 20);
  const ofFew = actions.filter((action) => action.refIds.some((id) => few.includes(id)));
  await loadReader(world, fanfare, { userId: 'few', refIds: few, actions: ofFew });
  await informPlanner(world);
}

/** A published action as it is stored, to be copied. */
export async function templateOf(
  world: RawWorld,
  fanfare: InProcess,
  input: Parameters<InProcess['publish']>[0],
): Promise<ActionDocument> {
  const id = await fanfare.publish(input);
  const found = await world.actions.findOneAndDelete({ _id: new ObjectId(id) });
  if (found === null) throw new Error('The published action is not there');
  const { leaseUntil: _leaseUntil, ...fanOut } = found.fanOut;
  return { ...found, fanOut: { ...fanOut, state: 'DONE' } };
}

export async function historyOf(
  world: RawWorld,
  fanfare: InProcess,
  length: number,
): Promise<readonly ActionDocument[]> {
  const usual = await templateOf(world, fanfare, { ...ratingInput(0, [{ id: FEED_REF }]), actorId: LOUD });
  const rare = await templateOf(world, fanfare, {
    ...{ actorId: 'actor-1', scope: 'FOLLOWERS', mentions: [readerOf('plain')] },
    refs: [FEED_REF, 'site-rare'].map((id) => ({ id, type: 'site', label: id })),
    descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: 'post', tags: ['rare'] } },
  });
  if (!rare.audience.includes(userKey(readerOf('plain')))) throw new Error('The reader is not addressed');
  const newest = Date.now() - 60_000;
  const actions = Array.from({ length }, (_, index): ActionDocument => {
    const time = new Date(newest - index * 60_000);
    const times = { conducted: time, recorded: time, latest: time };
    const day = time.toISOString().slice(0, 10);
    const made = index % RARE === RARE - 1 ? rare : usual;
    return { ...made, ...times, _id: new ObjectId(), groupKey: `${day}:${String(index % 97)}` };
  });
  await load(world.actions, length, (index) => actions[index] ?? usual);
  return actions;
}

async function archiveAllButFive(
  { db }: RawWorld,
  { app }: InProcess,
  userId: string,
  actions: readonly ActionDocument[],
): Promise<void> {
  const left = new Set(Array.from({ length: 5 }, (_, n) => Math.floor(((n + 1) * actions.length) / 6)));
  const archived = actions.filter((_, index) => !left.has(index));
  const at = new Date();
  await load(db.collection<ItemMarkDocument>('itemMarks'), archived.length, (index) => ({
    _id: readerActionId(userId, archived[index]?._id.toHexString() ?? ''),
    ...{ state: 'ARCHIVED' as const, at },
  }));
  await app.core.feeds.markHasMarks(userId);
}
