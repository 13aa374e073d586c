import { ACTIONS } from './actions/actions-collection.ts';
import { PUBLICATIONS } from '../features/publish/store/publications.ts';
import { SCORES, RANKINGS } from '../features/ranking/store.ts';
import { MODERATION_LOG } from '../features/moderation/store/moderation.ts';
import { FOLLOWS } from '../features/follow/store/follows.ts';
import { MEMBERS } from '../features/directory/store/members.ts';
import { REFS } from '../features/directory/store/refs.ts';
import { DIRECTORY_STAMPS } from '../features/directory/store/directory-stamps.ts';
import { FEEDS } from '../feed/store/feeds.ts';
import { FEED_EPOCHS } from '../feed/store/feed-epochs.ts';
import { READER_STAMPS } from '../feed/store/reader-stamps.ts';
import { ITEM_MARKS } from '../features/marks/store/item-marks.ts';
import { BOOKMARKS } from '../features/bookmarks/store.ts';
import { INTERACTIONS } from '../features/interactions/store/interactions.ts';
import { ERASURES } from '../features/erasure/store/erasures.ts';
import { HOST_EVENTS, EVENT_STATE } from '../features/events/store/host-events.ts';
import { EVENT_OUTBOX } from '../features/events/store/event-outbox.ts';
import { WEBHOOK_RECEIVERS } from '../features/webhooks/store/webhook-receivers.ts';
import { WEBHOOK_DELIVERIES } from '../features/webhooks/store/webhook-deliveries.ts';
import { SECRETS } from './database/secrets.ts';
import { SCHEMA } from './database/schema-version.ts';
import { PROCESSES } from './database/processes.ts';
import { WRITE_PROBES } from './database/write-check.ts';
import { ERASED_TENANTS } from '../features/tenants/store/erased-tenants.ts';
import type { Declaration, Declared, Documents } from './documents/declaration.ts';

/** Every collection that exists with every feed model. What is derived from actions comes before them. */
const CORE: { readonly [Name in keyof Documents]: Declared<Name> } = {
  members: MEMBERS,
  refs: REFS,
  follows: FOLLOWS,
  feeds: FEEDS,
  itemMarks: ITEM_MARKS,
  bookmarks: BOOKMARKS,
  interactions: INTERACTIONS,
  moderationLog: MODERATION_LOG,
  erasures: ERASURES,
  eventOutbox: EVENT_OUTBOX,
  hostEvents: HOST_EVENTS,
  webhookDeliveries: WEBHOOK_DELIVERIES,
  actions: ACTIONS,
  publications: PUBLICATIONS,
  scores: SCORES,
  rankings: RANKINGS,
  eventState: EVENT_STATE,
  webhookReceivers: WEBHOOK_RECEIVERS,
  directoryStamps: DIRECTORY_STAMPS,
  readerStamps: READER_STAMPS,
  feedEpochs: FEED_EPOCHS,
  erasedTenants: ERASED_TENANTS,
  secrets: SECRETS,
  schema: SCHEMA,
  processes: PROCESSES,
  writeProbes: WRITE_PROBES,
};

/** The same as a list, with documents of any type. */
export const CORE_COLLECTIONS = Object.values(CORE) as unknown as readonly Declaration[];
