import type { LeaseDocument } from './lease-document.ts';

declare module './declaration.ts' {
  interface Documents {
    readonly secrets: SecretDocument;
    readonly processes: ProcessDocument;
    readonly schema: SchemaDocument;
    readonly feedEpochs: FeedEpochDocument;
    readonly readerStamps: ReaderStampsDocument;
    readonly erasedTenants: ErasedTenantDocument;
    readonly directoryStamps: DirectoryStampDocument;
  }
}

/** A secret shared by all processes, such as the key of tickets. */
export interface SecretDocument {
  _id: string;
  /** Base64url. */
  value: string;
}

/** Records that a tenant was erased. `_id` is a hash of its name. */
export interface ErasedTenantDocument {
  _id: string;
  erasedAt: Date;
}

/** The current feed model and the number of changes of model. A single document. */
export interface FeedEpochDocument {
  _id: 'feeds';
  model: string;
  epoch: number;
}

/** Lets processes notice changes for readers; see `reader-stamps.ts`. A single document. */
export interface ReaderStampsDocument {
  _id: 'readers';
  /** By bucket of readers. */
  stamps: Record<string, number>;
}

/** When names of members and refs last changed; see `directory-stamps.ts`. A single document. */
export interface DirectoryStampDocument {
  _id: 'directory';
  stamp: number;
  /** Stamp of the last change in each bucket of ids. Absent for buckets without changes. */
  buckets: Record<string, number>;
}

/** Schema version of the database, and the current migration. A single document. */
export interface SchemaDocument {
  _id: 'schema';
  /** All documents have at least this version. */
  version: number;
  /** All application ids have a tenant prefix. Absent: none has. */
  tenants?: true;
  /** Ids are being given the prefix of this tenant; no other process may work meanwhile. */
  adopting?: string;
  /** Processes that write an older schema may not start: a migration to this version has begun. */
  required?: number;
  /** Present while a migration is due or running. */
  migration?: MigrationDocument;
}

/** How far a migration has come: the start of the next batch, in the migration's own format, `null` at the beginning; and documents examined. */
export interface MigrationDocument extends LeaseDocument<{
  readonly after: string | null;
  readonly looked: number;
}> {
  /** Target version. */
  to: number;
}

/** A running process; kept alive by its heartbeat. */
export interface ProcessDocument {
  _id: string;
  /** Newest schema version it knows, which is the one it writes. */
  schema: number;
  /** Whether it runs background workers. */
  isWorker: boolean;
  /** It stores ids with a tenant prefix. Absent: it does not. */
  tenants?: true;
  seenAt: Date;
  /** When it last said that it knows of live events that may be missing. Absent: it knows of none. */
  gapAt?: Date;
}
