import { events } from '../../../parts/events/src/jobs/event-mover.ts';
import { hostEventsRepository } from '../../../parts/events/src/store/host-events.ts';
import { eventSourcesRepository } from '../../../parts/events/src/store/event-sources.ts';
import { expect, test } from 'vitest';
import type { HostEventView } from '../../../src/domain/host-event.ts';
import { createRepositories } from '../../../src/app/repositories.ts';
import { Crash, crashingCollections } from '../../support/crashing.ts';
import { eventMover, eventsOf, moveEvents, poll } from '../../support/events.ts';
import { runnerOf } from '../../support/jobs.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { storageContext } from '../../support/storage-context.ts';

/** One writer: whatever it does, one thing after the other. Returns how many events that makes. */
async function write(parts: Parts, name: string, rounds: number): Promise<number> {
  const { services } = parts;
  const admin = parts.session('admin', 'admin');
  for (let round = 0; round < rounds; round++) {
    const { action } = await parts.publish({ scope: 'PUBLIC', actorId: name });
    const comment = { actionId: action.id, kind: 'COMMENT', text: 'Words' } as const;
    await services.addInteraction(parts.session(name), comment);
    await services.follow(parts.session(`${name}-${String(round)}`), name, 0);
    await services.hideAction(admin, action.id, null);
    await services.deleteAction(admin, action.id);
  }
  return rounds * 5;
}

test(
  'a host that follows the log beside concurrent writers and movers gets every event exactly once',
  async () => {
    await using parts = await openParts({ recordsEvents: true });
    await using one = await parts.reopen({ recordsEvents: true });
    await using two = await parts.reopen({ recordsEvents: true });
    const processes = [parts, one, two];
    const seen: HostEventView[] = [];
    const state = { after: null as string | null };
    let isWriting = true;
    const isUnderWay = (): boolean => isWriting;
    const look = async (): Promise<void> => {
      for await (const view of poll(parts, state)) seen.push(view);
    };
    // Movers that have no lease and know nothing of each other: as processes that were taken for dead and live.
    const moving = processes.map(async ({ database }) => {
      const hostEvents = hostEventsRepository(database.collections);
      const eventSources = eventSourcesRepository(database.collections);
      while (isUnderWay()) {
        const batch = await eventSources.read(new Date(), 5);
        await hostEvents.append(batch.events, new Date()).catch((error: unknown) => {
          // Numbers that others take all the time: the next round tries again.
          if (!(error instanceof Error) || !error.message.includes('E11000')) throw error;
        });
        const ids = batch.events.map(({ id }) => id);
        const known = await database.collections.hostEvents.countDocuments({ _id: { $in: ids } });
        if (known === ids.length) await batch.taken();
      }
    });
    const polling = (async () => {
      while (isUnderWay()) await look();
    })();
    const counts = await Promise.all(
      processes.flatMap((process, n) => [0, 1].map((m) => write(process, `w${String(n)}${String(m)}`, 12))),
    );
    isWriting = false;
    await Promise.all([...moving, polling]);
    await moveEvents(parts.database.collections);
    await look();

    const total = counts.reduce((sum, count) => sum + count, 0);
    // First the log, so that it is known what was lost: an event, or what the host saw of it.
    const log = await eventsOf(parts);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    const stories = new Map<string, string[]>();
    for (const { type, facts } of log)
      if (facts.actionId !== undefined)
        stories.set(facts.actionId, [...(stories.get(facts.actionId) ?? []), type]);
    const story = ['action.published', 'interaction.recorded', 'action.hidden', 'action.deleted'];
    const actions = await parts.database.collections.actions.find().toArray();
    expect(actions).toHaveLength(total / 5);
    // With what became of the action: whether a write was lost, or its event.
    expect(
      actions.map(({ _id, isHidden, isDeleted, unsent = [] }) => {
        const id = _id.toHexString();
        return { id, isHidden, isDeleted, unsent, story: stories.get(id) };
      }),
    ).toEqual(
      actions.map(({ _id }) => ({
        ...{ id: _id.toHexString(), isHidden: true, isDeleted: true, unsent: [], story },
      })),
    );
    expect(log.filter(({ type }) => type === 'follow.opened')).toHaveLength(total / 5);
    expect(seen).toHaveLength(total);
    expect(seen.map(({ id }) => id)).toEqual(log.map(({ id }) => id));
  },
  PATIENCE_MS * 4,
);

test('one process at a time moves events, and another one takes over when it ends', async () => {
  await using parts = await openParts({ recordsEvents: true });
  const { collections } = parts.database;
  const first = eventMover(collections);
  const second = eventMover(collections);
  const lease = (): Date => new Date();
  await parts.publish({});
  await first.round(new Date(Date.now() + 1_000));
  await parts.publish({});
  await second.round(lease());
  expect(await eventsOf(parts)).toHaveLength(1);
  await first.stop();
  await second.round(new Date(Date.now() + 1_000));
  expect(await eventsOf(parts)).toHaveLength(2);
  await parts.publish({});
  // It has died, and its lease has run out.
  await first.round(new Date(Date.now() + 60_000));
  expect(await eventsOf(parts)).toHaveLength(3);
});

test('events wait three seconds at most for a process that has died', async () => {
  await using parts = await openParts({ recordsEvents: true });
  const context = storageContext(parts.database.collections);
  const settings = { events: { retentionMs: 7 * 86_400_000, digests: null }, env: { NOTIFY_AFTER: 'off' } };
  const [dead, other] = [runnerOf(events, context, settings), runnerOf(events, context, settings)];
  const diedAt = Date.now() + 60_000;
  await dead.round(new Date(diedAt));
  await parts.publish({});
  await other.round(new Date(diedAt + 2_999));
  expect(await eventsOf(parts)).toHaveLength(0);
  await other.round(new Date(diedAt + 3_000));
  expect(await eventsOf(parts)).toHaveLength(1);
});

test('every event is in the log once, whatever process dies while it is recorded and moved', async () => {
  await using parts = await openParts({ recordsEvents: true });
  const { collections } = parts.database;
  const expected: Record<string, number> = {};
  const count = (type: string): void => {
    expected[type] = (expected[type] ?? 0) + 1;
  };
  for (let writes = 1; writes <= 14; writes++) {
    const { action } = await parts.publish({ scope: 'PUBLIC' });
    count('action.published');
    await parts.services.addInteraction(parts.session('ann'), { actionId: action.id, kind: 'LIKE' });
    count('interaction.recorded');
    await parts.services.follow(parts.session('ann'), `ref-${String(writes)}`, 0);
    count('follow.opened');
    await parts.services.unfollow(parts.session('ann'), `ref-${String(writes)}`, false);
    count('follow.closed');
    await parts.services.deleteAction(parts.session('admin', 'admin'), action.id);
    count('action.deleted');
    const dying = crashingCollections(collections, writes);
    // The purge of the interactions dies, then a mover does.
    await createRepositories(dying, { recordsEvents: true })
      .interactions.purgeAction(action.id)
      .catch(expectCrash);
    await moveEvents(dying).catch(expectCrash);
  }
  await parts.fanOut();
  await moveEvents(collections);
  const log = await eventsOf(parts);
  const counts: Record<string, number> = {};
  for (const { type } of log) counts[type] = (counts[type] ?? 0) + 1;
  expect(counts).toEqual(expected);
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
  for (const name of ['actions', 'interactions', 'follows'] as const)
    expect(await collections[name].countDocuments({ unsentAt: { $exists: true } })).toBe(0);
  expect(await collections.eventOutbox.countDocuments()).toBe(0);
});

function expectCrash(error: unknown): void {
  if (!(error instanceof Crash)) throw error;
}
