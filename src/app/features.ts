import { BOOKMARKS } from '../../parts/bookmarks/src/store.ts';
import { WEBHOOK_DELIVERIES, WEBHOOK_RECEIVERS } from '../../parts/webhooks/src/store.ts';
import { DECLARED, type FeedFilterRow, type FeedOrderRow } from '../feed/page/declared.ts';
import { RECENT, RELEVANCY } from '../feed/page/orders.ts';
import { FEEDS } from '../feed/store/feeds.ts';
import { FEED_EPOCHS } from '../feed/store/feed-epochs.ts';
import { READER_STAMPS } from '../storage/stamps/reader-stamps.ts';
import { ACTIONS } from './actions-collection.ts';
import { PROCESSES } from '../storage/database/processes.ts';
import { SCHEMA } from '../storage/database/schema-version.ts';
import { SECRETS } from '../storage/database/secrets.ts';
import { WRITE_PROBES } from '../storage/database/write-check.ts';

import type { Declaration, Declared, Documents } from '../storage/documents/declaration.ts';
import { BLOCKS } from '../features/blocks/store.ts';
import { DIRECTORY_STAMPS } from '../storage/stamps/directory-stamps.ts';
import { MEMBERS } from '../features/directory/store/members.ts';
import { REFS } from '../features/directory/store/refs.ts';
import { ERASURES } from '../features/erasure/store/erasures.ts';
import { EVENT_OUTBOX } from '../features/events/store/event-outbox.ts';
import { EVENT_STATE, HOST_EVENTS } from '../features/events/store/event-outbox.ts';
import { FOLLOWS } from '../features/follow/store/follows.ts';
import { INTERACTIONS } from '../features/interactions/store/interactions.ts';
import { THREADS } from '../features/interactions/store/threads.ts';
import { ITEM_MARKS } from '../features/marks/store/item-marks.ts';
import { MODERATION_LOG } from '../features/moderation/store/moderation.ts';
import { PUSH_REGISTRATIONS } from '../../parts/notifications/src/store/push.ts';
import { NOTIFICATION_STATES } from '../../parts/notifications/src/store/states.ts';
import { PUBLICATIONS } from '../features/publish/store/publishing.ts';
import { RANKINGS, SCORES } from '../features/ranking/store.ts';
import { TOP } from '../features/ranking/top-order.ts';
import { REPORTS } from '../features/reports/store.ts';
import { ERASED_TENANTS } from '../features/tenants/store.ts';

interface Feature {
  readonly collections: readonly { [Name in keyof Documents]: Declared<Name> }[keyof Documents][];
  /** Adds its fields to the API. Loaded when a process builds the API. */
  readonly api?: () => Promise<unknown>;
  /** Filters of feeds. */
  readonly filters?: readonly FeedFilterRow<unknown>[];
  /** Orders of feeds. */
  readonly orders?: readonly FeedOrderRow[];
}

/**
 * What the product does: the collections of each feature, and its fields of the API. Its jobs are listed in `app/jobs.ts`, and
 * those of parts in `app/part-jobs.ts`. What is derived from actions comes before them: erasures and tenants go through the
 * collections in this order.
 */
const FEATURES = [
  {
    collections: [MEMBERS, REFS, DIRECTORY_STAMPS],
    api: () =>
      Promise.all([
        import('../features/directory/api/member.ts'),
        import('../features/directory/api/ref.ts'),
      ]),
  },
  { collections: [], api: () => import('../features/viewer/api.ts') },
  { collections: [FOLLOWS], api: () => import('../features/follow/api.ts') },
  {
    collections: [FEEDS, FEED_EPOCHS, READER_STAMPS],
    orders: [RELEVANCY, RECENT],
    api: () =>
      Promise.all([
        import('../features/feed/api/feed-event.ts'),
        import('../features/feed/api/feed-group.ts'),
      ]),
  },
  { collections: [ITEM_MARKS], api: () => import('../features/marks/api.ts') },
  { collections: [BOOKMARKS], api: () => import('../../parts/bookmarks/src/api.ts') },
  { collections: [], api: () => import('../features/mutes/api.ts') },
  { collections: [], api: () => import('../../parts/explain/src/api.ts') },
  { collections: [INTERACTIONS, THREADS], api: () => import('../features/interactions/api.ts') },
  {
    collections: [NOTIFICATION_STATES, PUSH_REGISTRATIONS],
    api: () =>
      Promise.all([
        import('../../parts/notifications/src/api/events.ts'),
        import('../../parts/notifications/src/api/push.ts'),
      ]),
  },
  { collections: [BLOCKS], api: () => import('../features/blocks/api.ts') },
  { collections: [REPORTS], api: () => import('../features/reports/api.ts') },
  { collections: [MODERATION_LOG], api: () => import('../features/moderation/api.ts') },
  { collections: [ERASURES] },
  { collections: [], api: () => import('../../parts/erasure/src/api.ts') },
  { collections: [EVENT_OUTBOX, HOST_EVENTS, EVENT_STATE] },
  { collections: [], api: () => import('../../parts/events/src/api.ts') },
  {
    collections: [WEBHOOK_DELIVERIES, WEBHOOK_RECEIVERS],
    api: () => import('../../parts/webhooks/src/api.ts'),
  },
  { collections: [SCORES, RANKINGS], orders: [TOP] },
  {
    collections: [ACTIONS],
    api: () =>
      Promise.all([
        import('../features/actions/api/action.ts'),
        import('../features/actions/api/descriptor.ts'),
      ]),
  },
  { collections: [], api: () => import('../features/node/api.ts') },
  { collections: [PUBLICATIONS], api: () => import('../features/publish/api.ts') },
  { collections: [ERASED_TENANTS] },
  { collections: [], api: () => import('../features/operations/api.ts') },
  { collections: [SECRETS, SCHEMA, PROCESSES, WRITE_PROBES] },
] as const satisfies readonly Feature[];

type Undeclared = Exclude<keyof Documents, (typeof FEATURES)[number]['collections'][number]['name']>;

/** Every collection that exists with every feed model, with documents of any type. A type without its declaration is an error. */
export const CORE_COLLECTIONS: [Undeclared] extends [never] ? readonly Declaration[] : Undeclared =
  FEATURES.flatMap(({ collections }) => collections as readonly unknown[] as readonly Declaration[]);

for (const { filters = [], orders = [] } of FEATURES as readonly Feature[]) {
  DECLARED.addFilters(filters);
  DECLARED.addOrders(orders);
}

/** Adds the fields of all features to the API. */
export async function loadApi(): Promise<void> {
  await Promise.all(FEATURES.flatMap(({ api }: Feature) => (api === undefined ? [] : [api()])));
}
