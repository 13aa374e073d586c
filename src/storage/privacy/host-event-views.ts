import type { HostEvent } from '../../domain/host-event.ts';
import { hostEventData, type HostEventView } from '../../domain/host-event-data.ts';
import type { ErasuresRepository } from './erasures.ts';

/** Events as hosts get them, with whom erasures are for, as long as that is known. No round trip where there are none among them. */
export async function viewHostEvents(
  erasures: Pick<ErasuresRepository, 'subjectsOf'>,
  events: readonly HostEvent[],
): Promise<HostEventView[]> {
  const keys = events.flatMap(({ facts }) => facts.erasureKey ?? []);
  const subjects = await erasures.subjectsOf(keys);
  return events.map((event) => ({
    ...{ id: event.id, type: event.type, at: event.at, tenant: event.tenant },
    data: hostEventData(event, (key) => subjects.get(key) ?? null),
  }));
}
