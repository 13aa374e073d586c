import type { HostEvent } from '../../domain/host-event.ts';
import { hostEventData, type HostEventView } from '../../domain/host-event-data.ts';
import type { ErasuresRepository } from './erasures.ts';

/** Host events as delivered, with the members of erasures while known. No round trip if there are no erasures among them. */
export async function viewHostEvents(
  erasures: ErasuresRepository,
  events: readonly HostEvent[],
): Promise<HostEventView[]> {
  const keys = events.flatMap(({ facts }) => facts.erasureKey ?? []);
  const subjects = await erasures.subjectsOf(keys);
  return events.map((event) => ({
    ...{ id: event.id, type: event.type, at: event.at, tenant: event.tenant },
    data: hostEventData(event, (key) => subjects.get(key) ?? null),
  }));
}
