import {
  clientFields,
  itemFields,
  notificationEventsOf,
  notificationsOf,
  queryOf,
  subscriptionOf,
} from './documents.ts';
import { actionEventsOf, sliceEventsOf } from './list-documents.ts';
import type { ClientFields } from './fields.ts';
import { MUTATION_NAMES, mutationsOf } from './mutations.ts';

/** Documents by their SHA-256, as PERSISTED_OPERATIONS of a server takes them. */
export type Operations = Readonly<Record<string, string>>;

/**
 * All that a client sends on its own, for the list of a server that takes nothing else: it sends them word for word.
 * @param fields as given to `createFeedClient`
 * @param more documents for its `request`
 */
export async function operationsOf(
  fields: string | ClientFields = {},
  more: readonly string[] = [],
): Promise<Operations> {
  const added = clientFields(fields);
  const selected = itemFields(added);
  const documents = [
    ...[false, true].map((withTotal) => queryOf(selected, withTotal)),
    ...[false, true].flatMap((isOn) => [subscriptionOf(selected, isOn), notificationEventsOf(added, isOn)]),
    notificationsOf(added),
    sliceEventsOf(added),
    actionEventsOf(added),
    ...MUTATION_NAMES.flatMap((name) => mutationsOf(name, added)),
    ...more,
  ];
  const entries = documents.map(async (document) => [await hashOf(document), document] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function hashOf(document: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(document));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
