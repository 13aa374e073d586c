import { hostEventsRepository } from '../../parts/events/src/store/host-events.ts';
import { eventSourcesRepository } from '../../parts/events/src/store/event-sources.ts';
import type { NumberedHostEvent, HostEventView } from '../../src/domain/host-event.ts';
import type { Collections } from '../../src/storage/database/mongo.ts';
import type { Config } from '../../src/config/config.ts';
import type { JobRunner } from '../../src/jobs/job.ts';
import { events } from '../../parts/events/src/jobs/event-mover.ts';
import { runnerOf, type TestJobSetup } from './jobs.ts';
import type { Parts } from './parts.ts';
import { storageContext } from './storage-context.ts';

/** A mover that nothing starts. What a test does takes less time than its lease. */
export function eventMover(
  collections: Collections,
  { env, ...settings }: Partial<Config['events']> & Pick<TestJobSetup, 'env'> = {},
): JobRunner {
  return runnerOf((setup) => events(setup, setup.config.fanOut.leaseMs), storageContext(collections), {
    events: { retentionMs: 7 * 86_400_000, digests: null, ...settings },
    env: { NOTIFY_AFTER: 'off', ...env },
  });
}

/** Moves everything that has happened into the log. */
export async function moveEvents(collections: Collections): Promise<void> {
  const hostEvents = hostEventsRepository(collections);
  const eventSources = eventSourcesRepository(collections);
  for (;;) {
    // Whatever time a test has given it counts.
    const batch = await eventSources.read(new Date('9999-01-01'), 500);
    await hostEvents.append(batch.events, new Date());
    await batch.taken();
    if (batch.events.length === 0) return;
  }
}

/** The whole log, in order. */
export async function eventsOf({ database }: Pick<Parts, 'database'>): Promise<readonly NumberedHostEvent[]> {
  const page = await hostEventsRepository(database.collections).page({
    ...{ tenant: null, after: 0, upTo: Number.MAX_SAFE_INTEGER, types: null, limit: 100_000 },
  });
  return page.events;
}

/** Follows the log as a host does, page by page, until everything there is has been read. */
export async function* poll(
  parts: Pick<Parts, 'services' | 'service'>,
  state: { after: string | null },
  first = 7,
): AsyncGenerator<HostEventView> {
  for (;;) {
    const page = await parts.services.readHostEvents(parts.service, { first, after: state.after });
    for (const { node } of page.edges) yield node;
    state.after = page.end;
    if (!page.hasMore) return;
  }
}
