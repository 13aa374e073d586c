import { clock } from '../../src/lib/clock.ts';
import { report } from '../../src/features/reports/reports.ts';
import { ObjectId } from 'mongodb';
import { keptWorld, type World } from './kept-world.ts';
import type { Parts } from './parts.ts';
import { moveEvents } from './events.ts';
import { erase } from './erasure.ts';
import { leaveFineTraces, type FineTraces } from './erasure-traces.ts';
import { fillReaderActions } from './reader-actions.ts';

/** Nothing else in any document looks like these. */
export const ID = 'zq-7f3a91';
export const NAME = 'Zebulon Quux';

/** Readers whose feeds must not change when somebody else is erased. */
const HOUR = 3_600_000;
export const OTHERS = ['ann', 'bob', 'cid', 'dan', 'eve'] as const;

interface Traces {
  readonly own: { readonly rating: string; readonly post: string; readonly team: string };
  readonly others: { readonly named: string; readonly mention: string; readonly restricted: string };
  readonly traces: FineTraces;
}

/** What the host application says of them beside their name. */
export const DETAILS = {
  imageUrl: `https://images.example/${ID}.png`,
  url: `https://people.example/${ID}`,
  data: { nick: NAME },
};

/** How the server writes to them. */
export const CONTACT = { email: `${ID}@people.example`, locale: 'de-AT', timeZone: 'Europe/Vienna' };

const user = { id: ID, type: 'user', label: NAME, ...DETAILS };
const site = { id: 'site', type: 'site', label: 'Site' };

export type ErasureWorld = World<Traces>;

/** A member who has left a trace in every place there is. */
export const openErasureWorld: () => Promise<ErasureWorld> = keptWorld({ recordsEvents: true }, leaveTraces);

async function leaveTraces(parts: Parts): Promise<Traces> {
  const { services, service } = parts;
  const me = () => parts.session(ID);
  const admin = () => parts.session('admin', 'admin');
  await services.upsertMembers(service, [
    {
      ...{ memberId: ID, name: NAME, teamId: 't1', departmentId: 'd1', supervisorId: 'boss' },
      ...{ ...DETAILS, ...CONTACT },
    },
    { memberId: 'ann', name: 'Ann', teamId: 't1', departmentId: 'd2', supervisorId: ID },
    { memberId: 'bob', name: 'Bob', teamId: 't1', departmentId: 'd1' },
    { memberId: 'cid', name: 'Cid' },
    { memberId: 'dan', name: 'Dan', teamId: 't1' },
  ]);
  await services.upsertRefs(service, [user, site]);
  await services.followMany(service, [
    ...[ID, 'ann', 'bob'].map((followerId) => ({ followerId, refId: 'site' })),
    ...['bob', 'cid', 'eve', ID].map((followerId) => ({ followerId, refId: ID })),
    ...['t1', 'bob'].map((refId) => ({ followerId: ID, refId })),
  ]);
  await services.follow(parts.session('dan'), ID, 0);
  await services.unfollow(parts.session('dan'), ID, true);
  await services.unfollow(parts.session(ID), 't1', true);
  // Checks every follow from now on, so that what it is shown hangs on the follows of others.
  await services.follow(parts.session('cid'), 'elsewhere', 0);
  await services.unfollow(parts.session('cid'), 'elsewhere', false);

  const publish = async (input: Parameters<Parts['publish']>[0]): Promise<string> =>
    (await parts.publish(input)).action.id;
  const rating = await publish({
    actorId: ID,
    idempotencyKey: `rating-by-${ID}`,
    refs: [site],
    descriptor: {
      applicationRating: {
        raterId: ID,
        raterName: NAME,
        applicantId: 'app-1',
        applicantName: 'Mary',
        positionId: 'pos-1',
        positionName: 'Cook',
        ratingScore: 4.5,
        ratingText: 'The words of the rater',
        tags: ['cooks', NAME, ID],
      },
    },
  });
  const post = await publish({
    actorId: ID,
    scope: 'PUBLIC',
    refs: [{ id: 'post-1', type: 'post', label: `A post by ${NAME}` }],
    descriptor: {
      custom: {
        verb: 'posted',
        objectType: 'post',
        objectId: 'post-1',
        data: { text: 'Words of the author' },
      },
    },
  });
  const team = await publish({
    actorId: ID,
    scope: 'TEAM',
    descriptor: { posted: { postId: 'post-2', postTitle: 'A title', text: 'Words for the team' } },
  });
  const tombstoned = await publish({
    actorId: ID,
    descriptor: { followed: { followedId: 'x', followedName: 'X' } },
  });
  const restricted = await publish({ actorId: 'bob', scope: 'RESTRICTED', recipients: [ID, 'ann'] });
  const mention = await publish({
    actorId: 'ann',
    mentions: [ID, 'eve'],
    refs: [{ id: ID, type: 'user', label: NAME }],
  });
  const named = await publish({
    actorId: 'ann',
    scope: 'PUBLIC',
    refs: [site],
    descriptor: {
      custom: {
        verb: 'assigned',
        objectType: 'user',
        objectId: ID,
        data: { to: ID, [ID]: [{ deep: ID }], title: `Call ${NAME} back`, count: 3 },
        tags: [ID, 'calls'],
      },
    },
  });
  await publish({
    actorId: 'ann',
    mentions: ['bob'],
    descriptor: {
      applicantRatingRequested: {
        applicantId: 'app-1',
        applicantName: 'Mary',
        requestedFromId: ID,
        requestedFromName: NAME,
      },
    },
  });
  await publish({
    actorId: 'bob',
    scope: 'PUBLIC',
    refs: [site],
    descriptor: { followed: { followedId: ID, followedName: NAME } },
  });
  await parts.fanOut();
  await services.deleteAction(me(), tombstoned);
  const formerly = await publish({ actorId: 'ann', mentions: [ID, 'bob'] });
  await parts.fanOut();
  // What lifted it before the edit keeps it where it is for them.
  await services.addInteraction(parts.session('bob'), { actionId: formerly, kind: 'LIKE' });
  await services.updateAction(parts.session('ann'), formerly, { mentions: ['bob'] });
  await parts.fanOut();

  await services.addInteraction(me(), { actionId: named, kind: 'LIKE' });
  await services.addInteraction(me(), { actionId: named, kind: 'RESHARE' });
  await services.addInteraction(me(), {
    ...{ actionId: mention, kind: 'COMMENT', idempotencyKey: `${ID}-1` },
    ...{ text: `Words of ${NAME}`, data: { from: ID } },
  });
  await services.addInteraction(parts.session('bob'), { actionId: post, kind: 'LIKE' });
  await services.addInteraction(parts.session('eve'), {
    ...{ actionId: named, kind: 'COMMENT', text: 'What do you think?', mentions: [ID, 'ann'] },
  });
  await parts.fanOut();
  const traces = await leaveFineTraces(parts, ID, NAME);
  await services.addMute(parts.session('dan'), { memberId: ID });
  await services.addMute(me(), { memberId: 'bob' });
  await services.addMute(parts.session('eve'), { memberId: ID }, new Date(Date.now() + HOUR));
  await services.addMute(parts.session('dan'), { refId: ID }, null);
  await services.addMute(me(), { phrase: NAME }, null);
  await services.blockMember(me(), 'zed');
  await services.blockMember(parts.session('fay'), ID);
  for (const by of [ID, 'ann'])
    await report(parts.core, parts.session(by), {
      ...{ actionId: by === ID ? named : post, interactionId: null, memberId: null },
      ...{ reason: 'spam', text: `By ${NAME}` },
    });
  await services.hideFeedItem(me(), named);
  await services.bookmark(me(), named);
  await fillReaderActions(parts.database, ID, named);
  await services.showLess(me(), named);
  await services.markFeedRead(me(), clock.now());
  const { id: listId } = await services.createList(me(), { name: NAME, isExclusive: true });
  await services.addToList(me(), listId, ['site']);
  await services.markNotificationsSeen(me(), new Date());
  const keys = { p256dh: 'public', auth: 'secret' };
  const endpoint = 'https://push.example/one';
  await parts.database.collections.pushRegistrations.insertOne({
    ...{ _id: 'one', userId: ID, endpoint, ...keys, at: new Date() },
  });
  await parts.database.collections.mailboxes.insertOne({
    ...{ _id: ID, address: 'digest', pending: ['LIKE:one:two'], events: ['one'] },
  });
  await parts.database.collections.feedKeys.insertOne({
    _id: 'digest',
    userId: ID,
    name: NAME,
    at: new Date(),
  });
  await services.pinAction(admin(), ID, rating);
  await services.pinAction(admin(), 'site', rating);
  await services.pinAction(admin(), 'site', named);
  await moderate(parts, { rating, named, mention }, admin);
  await parts.fanOut();
  await moveEvents(parts.database.collections);
  // Two that were not moved.
  await parts.publish({ actorId: ID, mentions: ['ann'], scope: 'PUBLIC' });
  await parts.fanOut();
  await parts.publish({ actorId: 'bob', mentions: [ID] });
  await parts.fanOut();
  await leaveInterrupted(parts, mention);
  // As an admin they had asked for an erasure themselves.
  await erase({ ...parts, admin: { ...parts.admin, userId: ID } }, 'long-gone');
  return { own: { rating, post, team }, others: { named, mention, restricted }, traces };
}

async function moderate(
  parts: Parts,
  { rating, named, mention }: Readonly<Record<'rating' | 'named' | 'mention', string>>,
  admin: () => ReturnType<Parts['session']>,
): Promise<void> {
  const { services } = parts;
  await services.hideAction(admin(), rating, `Not again, ${NAME}!`);
  await services.unhideAction(admin(), rating);
  const asModerator = () => parts.session(ID, 'admin');
  await services.hideAction(asModerator(), named, 'Checked by me');
  await services.unhideAction(asModerator(), named);
  // Cut off between the change and the log.
  await parts.repositories.moderation.apply(mention, { kind: 'HIDE', by: ID, at: new Date(), reason: null });
  await services.unhideAction(admin(), mention);
  await parts.repositories.moderation.apply(mention, { kind: 'HIDE', by: ID, at: new Date(), reason: NAME });
  await parts.repositories.moderation.apply(mention, {
    kind: 'UNHIDE',
    by: ID,
    at: new Date(),
    reason: null,
  });
}

/** A fan-out that failed at this reader. */
async function leaveInterrupted(parts: Parts, actionId: string): Promise<void> {
  const { actions } = parts.database.collections;
  const before = await actions.findOne({ _id: new ObjectId(actionId) });
  if (before === null) throw new Error('The action is gone');
  const { version } = before.fanOut;
  const former = {
    ...{ rev: 0, scope: 'FOLLOWERS' as const, audience: [`user:${ID}`], mentions: [ID], recipients: [ID] },
    ...{ refIds: [ID], pullRefIds: [ID], reshares: [{ by: ID, at: new Date() }] },
  };
  await actions.updateOne(
    { _id: before._id },
    {
      $set: {
        'fanOut.state': 'FAILED',
        'fanOut.leaseUntil': new Date(),
        'fanOut.error': `E11000 duplicate key: { userId: "${ID}" }`,
        'fanOut.former': [former],
        'fanOut.toldAudience': former,
        'fanOut.checkpoint': { version, afterUserId: ID, delivered: 1 },
      },
    },
  );
}

/** What others see and count, which an erasure must leave as it is. */
export async function othersView(parts: Parts): Promise<object> {
  const { refs, actions } = parts.database.collections;
  const followers: Record<string, number> = {};
  for (const { _id, followerCount } of await refs.find({ _id: { $ne: ID } }).toArray())
    followers[_id] = followerCount;
  const engagement = await actions.find().sort({ _id: 1 }).project({ engagement: 1 }).toArray();
  const feeds: Record<string, object> = {};
  for (const reader of OTHERS)
    feeds[reader] = {
      // With relevancies and reasons: nothing moves, and nothing is there for another reason.
      entries: (await parts.feedStore.page({ userId: reader, limit: 1_000 })).entries,
      shown: await parts.feedOf(reader),
      unread: await parts.services.countUnread(parts.session(reader)),
    };
  const pinned = (await parts.services.readPinned(parts.session('ann'), 'site')).map(({ id }) => id);
  return { followers, engagement, feeds, pinned };
}
