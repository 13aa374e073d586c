import { ACTIONS } from './actions/actions-collection.ts';
import { PUBLICATIONS } from './actions/publications.ts';
import { SCORES, RANKINGS } from './actions/scores.ts';
import { MODERATION_LOG } from './actions/moderation.ts';
import { FOLLOWS } from './follows/follows.ts';
import { MEMBERS } from './directory/members.ts';
import { REFS } from './directory/refs.ts';
import { DIRECTORY_STAMPS } from './directory/directory-stamps.ts';
import { FEEDS } from './readers/feeds.ts';
import { FEED_EPOCHS } from './readers/feed-epochs.ts';
import { READER_STAMPS } from './readers/reader-stamps.ts';
import { ITEM_MARKS } from './readers/item-marks.ts';
import { BOOKMARKS } from './readers/bookmarks.ts';
import { INTERACTIONS } from './interactions/interactions.ts';
import { ERASURES } from './privacy/erasures.ts';
import { HOST_EVENTS, EVENT_STATE } from './events/host-events.ts';
import { EVENT_OUTBOX } from './events/event-outbox.ts';
import { WEBHOOK_RECEIVERS } from './events/webhook-receivers.ts';
import { WEBHOOK_DELIVERIES } from './events/webhook-deliveries.ts';
import { SECRETS } from './database/secrets.ts';
import { SCHEMA } from './database/schema-version.ts';
import { PROCESSES } from './database/processes.ts';
import { WRITE_PROBES } from './database/write-check.ts';
import { ERASED_TENANTS } from './tenants/erased-tenants.ts';
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
