import { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { Closer } from '../../../src/lib/closer.ts';
import type { FeedEvent } from '../../../src/core/shapes.ts';
import { startTestApp } from '../../support/app.ts';
import { commandsOf, stagesOf, type RecordedCommand } from '../../support/commands.ts';
import { publish, upsert } from '../../support/feed-api.ts';
import { watchFeed } from '../../support/live-clients.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { watching, type Watching } from '../../support/watching.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

const readers = (count: number): string[] => Array.from({ length: count }, (_, n) => `reader-${String(n)}`);

function tally(commands: readonly RecordedCommand[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { name, collection } of commands) {
    const key = `${name} ${collection}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

/** Tells these readers of an action as the fan-out would. */
async function announceTo(parts: Parts, actionId: string, userIds: readonly string[]): Promise<void> {
  await parts.live.liveLog.append(
    userIds.map((userId) => ({
      userId,
      event: { kind: 'added', actionId, relevancy: new Date(), reasons: ['FOLLOW'] },
    })),
  );
}

/** They begin to watch at once. */
function watchAll(parts: Parts, userIds: readonly string[], crowd: Closer): Promise<Watching[]> {
  return Promise.all(
    userIds.map(async (userId) =>
      crowd.own(await watching(parts.services, parts.session(userId).identity, {})),
    ),
  );
}

test.each([1, 50, 200, 600])(
  'shows one event to %i watchers by one command: what it needs of them is known since they began',
  async (count) => {
    await using parts = await openParts({ monitorCommands: true });
    await using crowd = new Closer();
    const { action } = await parts.publish({ actorId: 'actor', scope: 'PUBLIC' });
    const watchers = await watchAll(parts, readers(count), crowd);
    const events: FeedEvent[] = [];
    const commands = await commandsOf(parts.database, async () => {
      const next = watchers.map((watcher) => watcher.next());
      await announceTo(parts, action.id, readers(count));
      events.push(...(await Promise.all(next)));
    });
    expect(events.every((event) => event.kind === 'added' && event.item.actionId === action.id)).toBe(true);
    // What all readers share alike is looked at every few seconds, no matter who watches.
    const { 'find refs': _refs, ...others } = tally(commands);
    // The action and the stamps come together.
    expect(others).toEqual({ 'aggregate actions': 1 });
    // So it is of readers who come back at once, a hundred by one command.
    const back = await commandsOf(parts.database, async () => {
      await watchAll(parts, readers(count), crowd);
    });
    const { 'find refs': _looked, ...openings } = tally(back);
    expect(openings).toEqual({ 'aggregate actions': Math.ceil(count / 100) });
    const later = (await parts.publish({ actorId: 'actor', scope: 'PUBLIC' })).action;
    const again = await commandsOf(parts.database, async () => {
      const next = watchers.map((watcher) => watcher.next());
      await announceTo(parts, later.id, readers(count));
      await Promise.all(next);
    });
    const { 'find refs': _pulled, ...more } = tally(again);
    expect(more).toEqual({ 'aggregate actions': 1 });
  },
);

test('decides for each reader separately, though data is loaded together', async () => {
  await using parts = await openParts({ monitorCommands: true });
  await using crowd = new Closer();
  const { services, service } = parts;
  const people = ['plain', 'muted', 'hid', 'left', 'stays', 'took-back', 'follows-again', 'admin'];
  await services.upsertMembers(
    service,
    ['actor', 'left', 'stays'].map((memberId) => ({ memberId, name: memberId, teamId: 't1' })),
  );
  await services.followMany(
    service,
    ['plain', 'took-back', 'follows-again'].map((followerId) => ({ followerId, refId: 'actor' })),
  );
  const followers = (await parts.publish({ actorId: 'actor', scope: 'FOLLOWERS' })).action.id;
  const team = (await parts.publish({ actorId: 'actor', scope: 'TEAM' })).action.id;
  const all = (await parts.publish({ actorId: 'actor', scope: 'RESTRICTED', recipients: people })).action.id;
  await services.addMute(parts.session('muted'), { memberId: 'actor' });
  await services.hideFeedItem(parts.session('hid'), all);
  await services.upsertMembers(service, [{ memberId: 'left', name: 'left', teamId: null }]);
  await services.unfollow(parts.session('took-back'), 'actor', false);
  await services.unfollow(parts.session('follows-again'), 'other', false);
  const { action: last } = await parts.publish({ scope: 'RESTRICTED', actorId: 'last', recipients: people });
  const watchers = new Map<string, Watching>();
  for (const userId of people) {
    const identity = userId === 'admin' ? parts.admin : parts.session(userId).identity;
    watchers.set(userId, crowd.own(await watching(services, identity, {})));
  }
  await parts.live.liveLog.append(
    people.flatMap((userId) =>
      [
        { actionId: followers, reasons: ['FOLLOW'] as const },
        { actionId: team, reasons: ['TEAM'] as const },
        { actionId: all, reasons: ['RECIPIENT'] as const },
        { actionId: last.id, reasons: ['RECIPIENT'] as const },
      ].map((entry) => ({ userId, event: { kind: 'added' as const, relevancy: new Date(), ...entry } })),
    ),
  );
  const shown = await Promise.all(
    [...watchers].map(async ([userId, watcher]) => {
      const ids: string[] = [];
      for (;;) {
        const event = await watcher.next();
        const id = event.kind === 'added' ? event.item.actionId : event.kind;
        if (id === last.id) return [userId, ids] as const;
        ids.push(id);
      }
    }),
  );
  // A delivered follow is believed, unless its reader has ever taken one back.
  expect(Object.fromEntries(shown)).toEqual({
    plain: [followers, all],
    muted: [],
    hid: [followers],
    left: [followers, all],
    stays: [followers, team, all],
    'took-back': [all],
    'follows-again': [followers, all],
    admin: [followers, all],
  });
});

describe('loading for many readers at once', () => {
  test('uses an index', async () => {
    await using parts = await openParts({ monitorCommands: true });
    const { follows, itemMarks, feeds } = parts.database.collections;
    const many = Array.from({ length: 10_000 }, (_, n) => n);
    await follows.insertMany(
      many.map((n) => ({
        _id: new ObjectId(),
        followerId: `reader-${String(n % 2_500)}`,
        refId: `r${String(n)}`,
        active: true,
        spans: [{ since: new Date() }],
      })),
    );
    await itemMarks.insertMany(
      many.map((n) => ({
        _id: { userId: `reader-${String(n % 2_500)}`, actionId: new ObjectId() },
        state: 'HIDDEN' as const,
        at: new Date(),
      })),
    );
    await feeds.insertMany(many.map((n) => ({ _id: `reader-${String(n)}` })));
    const { repositories } = parts;
    const commands = await commandsOf(parts.database, async () => {
      await repositories.follows.findPairs(
        readers(200).map((followerId, n) => ({ followerId, refId: `r${String(n % 3)}` })),
      );
      await repositories.itemMarks.findPairs(
        readers(200).map((userId) => ({ userId, actionId: 'a'.repeat(24) })),
      );
      await repositories.actions.findWithStamps([], readers(200));
    });
    expect(commands).toHaveLength(3);
    for (const command of commands)
      await expect
        .poll(() => stagesOf(parts.database, command), { timeout: PATIENCE_MS, interval: 250 })
        .toSatisfy((stages: Awaited<ReturnType<typeof stagesOf>>) =>
          stages.every(({ stage }) => stage !== 'COLLSCAN'),
        );
  });
});

test('shows many watchers one event over sockets with few commands, including names and refs', async () => {
  const count = 100;
  await using api = await startTestApp({ worker: false, monitorCommands: true });
  await using worker = await startTestApp({ api: false, database: api.database });
  await using crowd = new Closer();
  await upsert(api, {
    members: [{ memberId: 'actor', name: 'Actor' }],
    refs: [{ id: 'site', type: 'site', label: 'Site' }],
    pairs: readers(count).map((followerId) => ({ followerId, refId: 'actor' })),
  });
  const watchers = await Promise.all(
    readers(count).map(async (reader) => crowd.own(await watchFeed('WebSocket', api, reader))),
  );
  const commands = await commandsOf(api.app.database, async () => {
    const id = await publish(api, { actorId: 'actor', refs: [{ id: 'site', type: 'site', label: 'Old' }] });
    const events = await Promise.all(watchers.map((watcher) => watcher.next()));
    for (const event of events)
      expect(event).toMatchObject({
        item: { action: { id, actor: { name: 'Actor' }, refs: [{ label: 'Site', isFollowed: false }] } },
      });
  });
  const asked = commands.filter(({ name }) => name === 'find' || name === 'aggregate');
  // How many of each kind hangs on how the event arrives, not on the number of watchers.
  expect(asked.length).toBeLessThan(count / 2);
  expect(new Set(asked.map(({ collection }) => collection))).toEqual(
    new Set(['members', 'actions', 'refs', 'follows']),
  );
  // Names are kept then, as long as the stamp of the directory says that they are the latest.
  const membersRead = async (): Promise<readonly RecordedCommand[]> => {
    const again = await commandsOf(api.app.database, async () => {
      await publish(api, { actorId: 'actor', refs: [{ id: 'site', type: 'site', label: 'Old' }] });
      await Promise.all(watchers.map((watcher) => watcher.next()));
    });
    return again.filter(({ collection }) => collection === 'members');
  };
  await expect.poll(membersRead, { timeout: PATIENCE_MS }).toEqual([]);
  await worker.idle();
});
