import { BOOKMARKS } from '../../packages/bookmarks/src/store.ts';
import { WEBHOOK_DELIVERIES, WEBHOOK_RECEIVERS } from '../../packages/webhooks/src/store.ts';
import { FEEDS } from '../feed/store/feeds.ts';
import { FEED_EPOCHS } from '../feed/store/feed-epochs.ts';
import { READER_STAMPS } from '../feed/store/reader-stamps.ts';
import { ACTIONS } from '../storage/actions/actions-collection.ts';
import { PROCESSES } from '../storage/database/processes.ts';
import { SCHEMA } from '../storage/database/schema-version.ts';
import { SECRETS } from '../storage/database/secrets.ts';
import { WRITE_PROBES } from '../storage/database/write-check.ts';

import type { Declaration, Declared, Documents } from '../storage/documents/declaration.ts';
import { BLOCKS } from './blocks/store.ts';
import { DIRECTORY_STAMPS } from './directory/store/directory-stamps.ts';
import { MEMBERS } from './directory/store/members.ts';
import { REFS } from './directory/store/refs.ts';
import { ERASURES } from './erasure/store/erasures.ts';
import { EVENT_OUTBOX } from './events/store/event-outbox.ts';
import { EVENT_STATE, HOST_EVENTS } from './events/store/event-outbox.ts';
import { FOLLOWS } from './follow/store/follows.ts';
import { INTERACTIONS } from './interactions/store/interactions.ts';
import { ITEM_MARKS } from './marks/store/item-marks.ts';
import { MODERATION_LOG } from './moderation/store/moderation.ts';
import { PUSH_REGISTRATIONS } from '../../packages/notifications/src/store/push.ts';
import { NOTIFICATION_STATES } from '../../packages/notifications/src/store/states.ts';
import { PUBLICATIONS } from './publish/store/publishing.ts';
import { RANKINGS, SCORES } from './ranking/store.ts';
import { REPORTS } from './reports/store.ts';
import { ERASED_TENANTS } from './tenants/store.ts';

interface Feature {
  readonly collections: readonly { [Name in keyof Documents]: Declared<Name> }[keyof Documents][];
  /** Adds its fields to the API. Loaded when a process builds the API. */
  readonly api?: () => Promise<unknown>;
}

/**
 * What the product does: the collections of each feature, and its fields of the API. Its jobs are listed in `app/jobs.ts`, and
 * those of packages in `app/part-jobs.ts`. What is derived from actions comes before them: erasures and tenants go through the
 * collections in this order.
 */
const FEATURES = [
  {
    collections: [MEMBERS, REFS, DIRECTORY_STAMPS],
    api: () => Promise.all([import('./directory/api/member.ts'), import('./directory/api/ref.ts')]),
  },
  { collections: [FOLLOWS], api: () => import('./follow/api.ts') },
  {
    collections: [FEEDS, FEED_EPOCHS, READER_STAMPS],
    api: () => Promise.all([import('../feed/api/feed-event.ts'), import('../feed/api/feed-group.ts')]),
  },
  { collections: [ITEM_MARKS], api: () => import('./marks/api.ts') },
  { collections: [BOOKMARKS], api: () => import('../../packages/bookmarks/src/api.ts') },
  { collections: [], api: () => import('./mutes/api.ts') },
  { collections: [], api: () => import('../../packages/explain/src/api.ts') },
  { collections: [INTERACTIONS], api: () => import('./interactions/api.ts') },
  {
    collections: [NOTIFICATION_STATES, PUSH_REGISTRATIONS],
    api: () =>
      Promise.all([
        import('../../packages/notifications/src/api/events.ts'),
        import('../../packages/notifications/src/api/push.ts'),
      ]),
  },
  { collections: [BLOCKS], api: () => import('./blocks/api.ts') },
  { collections: [REPORTS], api: () => import('./reports/api.ts') },
  { collections: [MODERATION_LOG], api: () => import('./moderation/api.ts') },
  { collections: [ERASURES] },
  { collections: [], api: () => import('../../packages/erasure/src/api.ts') },
  { collections: [EVENT_OUTBOX, HOST_EVENTS, EVENT_STATE] },
  { collections: [], api: () => import('../../packages/events/src/api.ts') },
  {
    collections: [WEBHOOK_DELIVERIES, WEBHOOK_RECEIVERS],
    api: () => import('../../packages/webhooks/src/api.ts'),
  },
  { collections: [ACTIONS] },
  { collections: [PUBLICATIONS], api: () => import('./publish/api.ts') },
  { collections: [SCORES, RANKINGS] },
  { collections: [ERASED_TENANTS] },
  { collections: [], api: () => import('./operations/api.ts') },
  { collections: [SECRETS, SCHEMA, PROCESSES, WRITE_PROBES] },
] as const satisfies readonly Feature[];

type Undeclared = Exclude<keyof Documents, (typeof FEATURES)[number]['collections'][number]['name']>;

/** Every collection that exists with every feed model, with documents of any type. A type without its declaration is an error. */
export const CORE_COLLECTIONS: [Undeclared] extends [never] ? readonly Declaration[] : Undeclared =
  FEATURES.flatMap(({ collections }) => collections as readonly unknown[] as readonly Declaration[]);

/** Adds the fields of all features to the API. */
export async function loadApi(): Promise<void> {
  await Promise.all(FEATURES.flatMap(({ api }: Feature) => (api === undefined ? [] : [api()])));
}
