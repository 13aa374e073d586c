import { expect, test } from 'vitest';
import type { HostEvent } from '../../../src/domain/host-event.ts';
import { COLLECTIONS } from '../../../src/app/collections.ts';
import { tenantDataRepository } from '../../../parts/tenants/src/all-of-tenant.ts';
import { hostEventsRepository } from '../../../parts/events/src/store/host-events.ts';
import { openParts } from '../../support/parts.ts';

const AT = new Date('2026-01-01T00:00:00Z');

function published(id: string, tenant: string): HostEvent {
  return { id, type: 'action.published', at: AT, tenant, facts: {} };
}

test("numbers of an erased tenant's events are not reused, whichever process continues", async () => {
  await using parts = await openParts({ recordsEvents: true });
  const { collections } = parts.database;
  const process = () => hostEventsRepository(collections);
  const [first, second] = [process(), process()];
  await first.append([published('a', 'kept')], AT);
  await second.append([published('b', 'gone'), published('c', 'gone')], AT);
  const tenants = tenantDataRepository(collections, COLLECTIONS);
  const part = tenants.parts().find(({ name }) => name === 'hostEvents');
  if (part === undefined) throw new Error('Events are no part of a tenant');
  expect(await tenants.remove(part, 'gone')).toBe(2);
  expect(await first.range()).toEqual({ deletedUpTo: 0, last: 3 });
  await first.append([published('d', 'kept')], AT);
  const { events } = await first.page({ tenant: null, after: 0, upTo: 9, types: null, limit: 9 });
  expect(events.map(({ id, seq }) => [id, seq])).toEqual([
    ['a', 1],
    ['d', 4],
  ]);
});
