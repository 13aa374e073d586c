/** A secret that all processes share, such as the key of tickets. */
export interface SecretDocument {
  _id: string;
  /** Base64url. */
  value: string;
}

/** That a tenant was erased. `_id` is a hash of its name. */
export interface ErasedTenantDocument {
  _id: string;
  erasedAt: Date;
}

/** Which feed model was chosen last, and how many times another one was. One document. */
export interface FeedEpochDocument {
  _id: 'feeds';
  model: string;
  epoch: number;
}

/** By which processes see that something has changed for readers; see `reader-stamps.ts`. One document. */
export interface ReaderStampsDocument {
  _id: 'readers';
  /** By bucket of readers. */
  stamps: Record<string, number>;
}

/** When what members and refs are called last changed; see `directory-stamps.ts`. One document. */
export interface DirectoryStampDocument {
  _id: 'directory';
  stamp: number;
  /** The stamp of the last change in each bucket of ids. Absent for buckets without one. */
  buckets: Record<string, number>;
}

/** Which shape the documents of the database have, and the migration under way. One document. */
export interface SchemaDocument {
  _id: 'schema';
  /** Every document has at least the shape of this version. */
  version: number;
  /** Every id of the host application stands behind its tenant. Absent: none does. */
  tenants?: true;
  /** Its ids are being put behind this tenant: nobody else may work on it before that is done. */
  adopting?: string;
  /** Processes that write an older shape may not start: a migration to this version has begun. */
  required?: number;
  /** Present while a migration is due or under way. */
  migration?: MigrationDocument;
}

export interface MigrationDocument {
  /** The version it leads to. */
  to: number;
  /** Where the next batch begins, in the migration's own terms; null: at the beginning. */
  after: string | null;
  /** Documents looked at so far. */
  done: number;
  startedAt: Date;
  /** When somebody may take it up: at once, after a pause, or when the lease of `worker` is over. */
  dueAt: Date;
  worker?: string;
  /** Why the last attempt failed. */
  error?: string;
}

/** A running process, for as long as it says so. */
export interface ProcessDocument {
  _id: string;
  /** The newest schema version it knows: it writes that shape. */
  schema: number;
  /** Whether it works in the background. */
  isWorker: boolean;
  /** It stores ids behind their tenant. Absent: it does not. */
  tenants?: true;
  seenAt: Date;
}
