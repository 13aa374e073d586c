import { MongoClient, type Collection, type Db, type Document, type MongoClientOptions } from 'mongodb';
import { clock } from '../../lib/clock.ts';
import { traceCommands } from './command-spans.ts';
import { idOfTime, keepTime } from './database-time.ts';
import type { MemberDocument, RefDocument } from '../documents/directory-documents.ts';
import type {
  ActionDocument,
  ErasureDocument,
  InteractionDocument,
  ModerationDocument,
  PublicationDocument,
  RankingDocument,
  ScoreDocument,
} from '../documents/documents.ts';
import type { FeedDocument, FollowDocument } from '../documents/reader-documents.ts';
import { EndingConnection } from './ending-connection.ts';
import type { EventStateDocument, HostEventDocument, OutboxDocument } from '../documents/event-documents.ts';
import type { BookmarkDocument, ItemMarkDocument } from '../documents/reader-documents.ts';
import type {
  ErasedTenantDocument,
  DirectoryStampDocument,
  FeedEpochDocument,
  ProcessDocument,
  ReaderStampsDocument,
  SchemaDocument,
  SecretDocument,
} from '../documents/installation-documents.ts';
import type { WebhookDeliveryDocument, WebhookReceiverDocument } from '../documents/webhook-documents.ts';
import { WriteCheck } from './write-check.ts';

/** Collections that exist with every feed model; models add their own. */
export interface Collections {
  readonly actions: Collection<ActionDocument>;
  readonly publications: Collection<PublicationDocument>;
  readonly follows: Collection<FollowDocument>;
  readonly members: Collection<MemberDocument>;
  readonly refs: Collection<RefDocument>;
  readonly feeds: Collection<FeedDocument>;
  readonly interactions: Collection<InteractionDocument>;
  readonly itemMarks: Collection<ItemMarkDocument>;
  readonly bookmarks: Collection<BookmarkDocument>;
  readonly moderationLog: Collection<ModerationDocument>;
  readonly erasures: Collection<ErasureDocument>;
  readonly hostEvents: Collection<HostEventDocument>;
  readonly eventOutbox: Collection<OutboxDocument>;
  readonly eventState: Collection<EventStateDocument>;
  readonly webhookReceivers: Collection<WebhookReceiverDocument>;
  readonly webhookDeliveries: Collection<WebhookDeliveryDocument>;
  readonly scores: Collection<ScoreDocument>;
  readonly rankings: Collection<RankingDocument>;
  readonly secrets: Collection<SecretDocument>;
  readonly feedEpochs: Collection<FeedEpochDocument>;
  readonly readerStamps: Collection<ReaderStampsDocument>;
  readonly directoryStamps: Collection<DirectoryStampDocument>;
  readonly erasedTenants: Collection<ErasedTenantDocument>;
  readonly schema: Collection<SchemaDocument>;
  readonly processes: Collection<ProcessDocument>;
}

export interface Database extends AsyncDisposable {
  readonly db: Db;
  readonly collections: Collections;
  /** The server is mongos, the router of a sharded cluster. */
  readonly isSharded: boolean;
  /** Rejects when the database does not answer within a second. */
  ping(): Promise<void>;
  /** Whether the database accepts writes; used for readiness. */
  readonly writes: WriteCheck;
  /** Version of the server, for people. */
  version(): Promise<string>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly uri: string;
  readonly db: string;
  /** Upper bound on connections of this process. Default 50. */
  readonly maxPoolSize?: number;
  /** Emit command events, for counting round trips. */
  readonly monitorCommands?: boolean;
  /** Create spans for commands of traced requests and passes. */
  readonly traces?: boolean;
  /** How long an operation waits for a reachable server, in milliseconds. Default 5000. */
  readonly serverSelectionTimeoutMs?: number;
}

/** Connects and determines the kind of server. Rejects with the driver's error when it cannot be reached. */
export async function connectDatabase(options: DatabaseOptions): Promise<Database> {
  const settings: MongoClientOptions & { readonly connectionType: typeof EndingConnection } = {
    appName: 'fanfare',
    connectionType: EndingConnection,
    maxPoolSize: options.maxPoolSize ?? 50,
    monitorCommands: options.monitorCommands === true || options.traces === true,
    serverSelectionTimeoutMS: options.serverSelectionTimeoutMs ?? 5_000,
    ignoreUndefined: true,
    // The driver looks up the name of each list it reads here: in an object with a prototype it would find "constructor",
    // and return the objects in the list as bytes.
    fieldsAsRaw: Object.create(null) as Document,
  };
  const client = new MongoClient(options.uri, settings);
  keepTime(client, clock);
  if (options.traces === true) traceCommands(client);
  try {
    const { msg } = await client.db(options.db).command({ hello: 1 });
    return openDatabase(client.db(options.db), {
      isSharded: msg === ROUTER,
      close: () => client.close(),
    });
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** A database that does not answer within this time counts as away. Milliseconds. */
const PING_WITHIN_MS = 1_000;

/** What mongos answers to `hello`. */
const ROUTER = 'isdbgrid';

export function openDatabase(
  db: Db,
  {
    isSharded,
    close,
  }: {
    readonly isSharded: boolean;
    /** Closes the connections, or leaves them open if others use them. */
    readonly close: () => Promise<void>;
  },
): Database {
  return {
    db,
    isSharded,
    collections: openCollections(db),
    ping: async () => {
      await db.command({ ping: 1 }, { signal: AbortSignal.timeout(PING_WITHIN_MS) });
    },
    writes: new WriteCheck(db),
    version: async () => {
      const info = await db.admin().buildInfo();
      return String(info['version']);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

export function openCollections(db: Db): Collections {
  return {
    actions: db.collection('actions'),
    publications: db.collection('publications'),
    follows: db.collection('follows'),
    members: db.collection('members'),
    refs: db.collection('refs'),
    feeds: db.collection('feeds'),
    interactions: db.collection('interactions'),
    itemMarks: db.collection('itemMarks'),
    bookmarks: db.collection('bookmarks'),
    moderationLog: db.collection('moderationLog'),
    erasures: db.collection('erasures'),
    hostEvents: db.collection('hostEvents'),
    eventOutbox: db.collection('eventOutbox'),
    eventState: db.collection('eventState'),
    webhookReceivers: db.collection('webhookReceivers'),
    webhookDeliveries: db.collection('webhookDeliveries'),
    scores: db.collection('scores'),
    rankings: db.collection('rankings'),
    secrets: db.collection('secrets'),
    feedEpochs: db.collection('feedEpochs'),
    readerStamps: db.collection('readerStamps'),
    directoryStamps: db.collection('directoryStamps'),
    erasedTenants: db.collection('erasedTenants'),
    schema: db.collection('schema'),
    processes: db.collection('processes'),
  };
}

/** A new document id of 24 hex digits. Starts with the time of the database's clock. */
export function newObjectId(): string {
  return idOfTime(clock.now()).toHexString();
}
