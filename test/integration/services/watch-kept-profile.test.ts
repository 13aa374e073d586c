import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { DeliveryReason } from '../../../src/domain/newsfeed-item.ts';
import type { FeedEvent } from '../../../src/core/shapes.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { uniqueName } from '../../support/unique-name.ts';
import { watching } from '../../support/watching.ts';

// Two processes on one database, each with a log of its own: what the other one announces never comes to the watcher, as
// while it cannot reach Redis.
let here: Parts;
let there: Parts;
beforeAll(async () => {
  here = await openParts();
  there = await here.reopen();
});
afterAll(async () => {
  await there[Symbol.asyncDispose]();
  await here[Symbol.asyncDispose]();
});

interface Watched {
  /** Has the log tell of an action, by default of a new one, and gives whether the watcher is sent it. */
  isShown(actionId?: string, reason?: 'TEAM'): Promise<boolean>;
}

/** Runs with a watcher, whose profile is kept since they began. */
async function withReader(
  work: (reader: string, watched: Watched & { readonly actor: string }) => Promise<void>,
): Promise<void> {
  const reader = uniqueName('reader-');
  const actor = uniqueName('actor-');
  await here.services.upsertMembers(
    here.service,
    [reader, actor].map((memberId) => ({ memberId, name: memberId, teamId: 'team' })),
  );
  await here.services.followMany(here.service, [{ followerId: reader, refId: actor }]);
  await using watcher = await watching(here.services, here.session(reader).identity, {});
  const publishTo = async (input: object): Promise<string> =>
    (await here.publish({ actorId: actor, ...input })).action.id;
  const tell = (actionId: string, reason: DeliveryReason): Promise<void> =>
    here.live.liveLog.append([
      { userId: reader, event: { kind: 'added', actionId, relevancy: new Date(), reasons: [reason] } },
    ]);
  const idOf = (event: FeedEvent): string => ('item' in event ? event.item.actionId : event.kind);
  const watched: Watched = {
    async isShown(actionId, reason) {
      await tell(actionId ?? (await publishTo({ scope: 'FOLLOWERS' })), reason ?? 'FOLLOW');
      // Comes in any case, and behind it.
      const last = await publishTo({ actorId: 'last', scope: 'RESTRICTED', recipients: [reader] });
      await tell(last, 'RECIPIENT');
      const first = idOf(await watcher.next());
      if (first !== last) expect(idOf(await watcher.next())).toBe(last);
      return first !== last;
    },
  };
  await work(reader, { ...watched, actor });
}

test('a mute takes effect on the next event though its announcement is lost, and so does its end', () =>
  withReader(async (reader, { isShown, actor }) => {
    await there.services.addMute(there.session(reader), { memberId: actor });
    expect(await isShown()).toBe(false);
    await there.services.removeMute(there.session(reader), { memberId: actor });
    expect(await isShown()).toBe(true);
  }));

test('so does the first hidden item', () =>
  withReader(async (reader, { isShown, actor }) => {
    const { action } = await here.publish({ actorId: actor, scope: 'FOLLOWERS' });
    await there.services.hideFeedItem(there.session(reader), action.id);
    expect(await isShown(action.id)).toBe(false);
    expect(await isShown()).toBe(true);
  }));

test('so does a follow that is removed with its history', () =>
  withReader(async (reader, { isShown, actor }) => {
    const { action } = await here.publish({ actorId: actor, scope: 'PUBLIC' });
    await there.services.unfollow(there.session(reader), actor, false);
    expect(await isShown(action.id)).toBe(false);
  }));

test('so does leaving a team', () =>
  withReader(async (reader, { isShown, actor }) => {
    const { action } = await here.publish({ actorId: actor, scope: 'TEAM' });
    await there.services.upsertMembers(there.service, [{ memberId: reader, name: reader, teamId: null }]);
    expect(await isShown(action.id, 'TEAM')).toBe(false);
  }));

test('what the reader does just before their log is followed holds for the first event', async () => {
  const reader = uniqueName('reader-');
  const publish = async () =>
    (await here.publish({ actorId: uniqueName('actor-'), scope: 'RESTRICTED', recipients: [reader] })).action;
  const [seen, relevancy] = [await publish(), new Date()];
  const { liveLog } = here.live;
  const follow = liveLog.watch.bind(liveLog);
  vi.spyOn(liveLog, 'watch').mockImplementationOnce(async (options) => {
    await there.services.markFeedRead(there.session(reader), relevancy);
    return follow(options);
  });
  await using watcher = await watching(here.services, here.session(reader).identity, {});
  await liveLog.append([
    { userId: reader, event: { kind: 'added', actionId: seen.id, relevancy, reasons: ['RECIPIENT'] } },
  ]);
  expect(await watcher.next()).toMatchObject({ item: { actionId: seen.id, isUnread: false } });
});
