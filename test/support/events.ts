import type { NumberedHostEvent, HostEventView } from '../../src/domain/host-event.ts';
import { createRepositories } from '../../src/storage/repositories.ts';
import type { Collections } from '../../src/storage/database/mongo.ts';
import { EventMover, type EventMoverOptions } from '../../src/features/events/jobs/event-mover.ts';
import type { Parts } from './parts.ts';
import { storageContext } from './storage-context.ts';
import { uniqueName } from './unique-name.ts';

/** A mover that nothing starts. */
export function eventMover(
  collections: Collections,
  options: Partial<Pick<EventMoverOptions, 'retentionMs' | 'digests' | 'receiverUrls'>> = {},
): EventMover {
  return new EventMover(storageContext(collections), {
    onMoved: () => undefined,
    onError: (error) => {
      throw error;
    },
    workerId: uniqueName('mover'),
    leaseMs: 30_000,
    pollMs: 20,
    retentionMs: 7 * 86_400_000,
    digests: null,
    receiverUrls: [],
    ...options,
  });
}

/** Moves everything that has happened into the log. */
export async function moveEvents(collections: Collections): Promise<void> {
  const { hostEvents, eventSources } = createRepositories(collections, { recordsEvents: true });
  for (;;) {
    // Whatever time a test has given it counts.
    const batch = await eventSources.read(new Date(Date.now() + 3_600_000), 500);
    await hostEvents.append(batch.events, new Date());
    await batch.taken();
    if (batch.events.length === 0) return;
  }
}

/** The whole log, in order. */
export async function eventsOf({
  repositories,
}: Pick<Parts, 'repositories'>): Promise<readonly NumberedHostEvent[]> {
  const { events } = await repositories.hostEvents.page({
    ...{ tenant: null, after: 0, upTo: Number.MAX_SAFE_INTEGER, types: null, limit: 100_000 },
  });
  return events;
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
    state.after = page.endCursor;
    if (!page.hasNextPage) return;
  }
}
