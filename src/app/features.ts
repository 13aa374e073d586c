import { DECLARED } from '../feed/page/declared.ts';
import { RECENT, RELEVANCY } from '../feed/page/orders.ts';
import { FEEDS } from '../feed/store/feeds.ts';
import { FEED_EPOCHS } from '../feed/store/feed-epochs.ts';
import { READER_STAMPS } from '../storage/stamps/reader-stamps.ts';
import { ACTIONS } from './actions-collection.ts';
import { PROCESSES } from '../storage/database/processes.ts';
import { SCHEMA } from '../storage/database/schema-version.ts';
import { SECRETS } from '../storage/database/secrets.ts';
import { WRITE_PROBES } from '../storage/database/write-check.ts';
import { expiry } from '../features/publish/jobs/expiry.ts';
import { publication } from '../features/publish/jobs/publication.ts';
import { migration } from '../features/upkeep/jobs/migration.ts';
import { muteEnds } from '../features/mutes/jobs/mute-ends.ts';
import { rebuilds } from '../features/rebuild/jobs/rebuilds.ts';
import { renames } from '../features/directory/jobs/renames.ts';
import { rescoring } from '../features/ranking/jobs/rescoring.ts';
import { markEnds } from '../features/marks/jobs/mark-ends.ts';
import { upkeep } from '../features/upkeep/jobs/upkeep.ts';
import type { Config } from '../config/config.ts';
import type { Part } from './part.ts';
import * as parts from './parts.ts';
import type { Declaration, Documents } from '../storage/documents/declaration.ts';
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
import { PUBLICATIONS } from '../features/publish/store/publishing.ts';
import { IMPRESSIONS } from '../features/impressions/store.ts';
import { RANKINGS, SCORES } from '../features/ranking/store.ts';
import { TOP } from '../features/ranking/top-order.ts';
import { RANK } from '../features/ranking/rank-order.ts';
import { SOURCE } from '../features/ranking/source-order.ts';
import { REPORTS } from '../features/reports/store.ts';
import { ERASED_TENANTS } from '../features/tenants/store.ts';

/** Parts, which a server can do without. */
const PARTS = Object.values(parts);

/**
 * The whole product, as what each feature brings. Collections that are derived from actions come before them: erasures and tenants go
 * through the collections in this order.
 */
const ALL = [
  {
    collections: [MEMBERS, REFS, DIRECTORY_STAMPS],
    jobs: [renames],
    api: () =>
      Promise.all([
        import('../features/directory/api/member.ts'),
        import('../features/directory/api/ref.ts'),
      ]),
  },
  { api: () => import('../features/viewer/api.ts') },
  { collections: [FOLLOWS], api: () => import('../features/follow/api.ts') },
  {
    collections: [FEEDS, FEED_EPOCHS, READER_STAMPS],
    orders: [RELEVANCY, RECENT],
    jobs: [rebuilds],
    api: () =>
      Promise.all([
        import('../features/feed/api/feed-event.ts'),
        import('../features/feed/api/feed-group.ts'),
        import('../features/feed/api/list-event.ts'),
        import('../features/feed/api/view.ts'),
      ]),
  },
  { collections: [ITEM_MARKS], jobs: [markEnds], api: () => import('../features/marks/api.ts') },
  { api: () => import('../features/lists/api.ts') },
  { collections: [IMPRESSIONS], api: () => import('../features/impressions/api.ts') },
  { jobs: [muteEnds], api: () => import('../features/mutes/api.ts') },
  { collections: [INTERACTIONS, THREADS], api: () => import('../features/interactions/api.ts') },
  { collections: [BLOCKS], api: () => import('../features/blocks/api.ts') },
  { collections: [REPORTS], api: () => import('../features/reports/api.ts') },
  { collections: [MODERATION_LOG], api: () => import('../features/moderation/api.ts') },
  { collections: [ERASURES] },
  { collections: [EVENT_OUTBOX, HOST_EVENTS, EVENT_STATE] },
  ...PARTS,
  { collections: [SCORES, RANKINGS], orders: [TOP, RANK, SOURCE], jobs: [rescoring] },
  {
    collections: [ACTIONS],
    api: () =>
      Promise.all([
        import('../features/actions/api/action.ts'),
        import('../features/actions/api/descriptor.ts'),
      ]),
  },
  { api: () => import('../features/node/api.ts') },
  {
    collections: [PUBLICATIONS],
    jobs: [expiry, publication],
    api: () => import('../features/publish/api.ts'),
  },
  { collections: [ERASED_TENANTS] },
  { api: () => import('../features/operations/api.ts') },
  { collections: [SECRETS, SCHEMA, PROCESSES, WRITE_PROBES], jobs: [migration, upkeep] },
] as const satisfies readonly Part[];

export const FEATURES: readonly Part[] = ALL;

type CollectionOf<P> = P extends { readonly collections: readonly { readonly name: infer Name }[] }
  ? Name
  : never;
type Undeclared = Exclude<keyof Documents, CollectionOf<(typeof ALL)[number]>>;

/** Every collection that exists with every feed model, with documents of any type. A type without its declaration is an error. */
export const CORE_COLLECTIONS: [Undeclared] extends [never] ? readonly Declaration[] : Undeclared =
  FEATURES.flatMap(({ collections = [] }) => collections as readonly unknown[] as readonly Declaration[]);

for (const { filters = [], orders = [] } of FEATURES) {
  DECLARED.addFilters(filters);
  DECLARED.addOrders(orders);
}

/** What the use cases of all features have of the configuration. */
export function coreFields(config: Config): object {
  return Object.assign({}, ...FEATURES.map(({ core }) => core?.(config))) as object;
}

/** Adds the fields of all features to the API. */
export async function loadApi(): Promise<void> {
  await Promise.all(FEATURES.flatMap(({ api }) => api?.() ?? []));
}
