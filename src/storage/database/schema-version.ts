import type { Collection } from 'mongodb';
import { retryOnDuplicateKey } from './errors.ts';
import { type Claiming, type Failure, type Held, leased } from './lease.ts';
import { literal } from '../stages/revision.ts';
import type { MigrationDocument, SchemaDocument } from '../documents/installation-documents.ts';
import type { Collections } from './mongo.ts';
import { ofInstallation } from '../documents/declaration.ts';

declare module '../repositories.ts' {
  interface Repositories {
    readonly schemaVersion: ReturnType<typeof schemaVersionRepository>;
  }
}

export const SCHEMA = ofInstallation('schema', 'the schema version, and the current migration');

/** A worker's claim on the pending migration, valid until the lease ends. */
export interface MigrationClaim extends Held<'schema'> {
  readonly to: number;
  /** Start of the next batch; `null`: the beginning. */
  readonly after: string | null;
  readonly done: number;
}

export interface SchemaState {
  readonly version: number;
  /** Processes that write an older schema may not start. Never above the stored version once the migration has ended. */
  readonly required: number;
  /** Stored ids have a tenant prefix. */
  readonly hasTenants: boolean;
  /** Its ids are being given the prefix of this tenant. */
  readonly adopting: string | null;
  readonly migration: MigrationDocument | null;
}

/** The database was written by a version with other migrations: a newer one, or one from before the first release. */
export class SchemaTooNew extends Error {
  override readonly name = 'SchemaTooNew';

  constructor(required: number, supported: number) {
    super(
      `The database has schema version ${String(required)}, and this version of the server knows those up to ${String(supported)}. Another version wrote it: run that one, or take an empty database (MONGODB_DB), or an empty folder if it is a local one (DATA_DIR)`,
    );
  }
}

/** The settings and the database disagree about tenants. */
export class TenancyDiffers extends Error {
  override readonly name = 'TenancyDiffers';
}

const HAS_TENANTS =
  'TENANT_CLAIM is not set, and the database has tenants: set it to the value with which the data were written';
const HAS_NONE =
  'TENANT_CLAIM is set, and the database has data without tenants: take an empty one (MONGODB_DB), unset TENANT_CLAIM, ' +
  'or make all of it the data of one tenant: fanfare tenant adopt <name>';
const beingAdopted = (tenant: string): string =>
  `The database is being adopted into the tenant ${tenant}: fanfare tenant adopt ${tenant} continues`;

/** A single document with the schema version of all others. Unique key: `_id`. */
export function schemaVersionRepository(collections: Collections) {
  const { schema, actions, members, refs, follows, feeds } = collections;
  const leases = leased(schema, 'migration');

  async function isEmpty(): Promise<boolean> {
    const collectionsWithData = [actions, members, refs, follows, feeds] as unknown as Collection[];
    const found = await Promise.all(
      collectionsWithData.map((collection) => collection.findOne({}, { projection: { _id: 1 } })),
    );
    return found.every((document) => document === null);
  }

  async function state(): Promise<SchemaState | null> {
    const document = await schema.findOne({ _id: 'schema' });
    return document === null ? null : toState(document);
  }

  /** Why no process with these settings can use the database; `null` if one can. */
  async function tenancyFault(found: SchemaState, hasTenants: boolean): Promise<string | null> {
    if (found.hasTenants === hasTenants) return null;
    if (!hasTenants) return HAS_TENANTS;
    return (await isEmpty()) ? null : HAS_NONE;
  }

  /** Only an empty database can switch to tenants, which is then permanent. */
  async function settleTenancy(found: SchemaState, hasTenants: boolean): Promise<void> {
    const fault = await tenancyFault(found, hasTenants);
    if (fault !== null) throw new TenancyDiffers(fault);
    await schema.updateOne({ _id: 'schema' }, { $set: { tenants: true } });
  }

  return {
    state,
    tenancyFault,

    /**
     * Reads the version. If there is none, stores it first: the latest for an empty database, otherwise that from before
     * versions were counted. One round trip except for the first time.
     * @param options.hasTenants whether this process stores ids with a tenant prefix. Default: false.
     * @throws SchemaTooNew, TenancyDiffers
     */
    async open(supported: number, { hasTenants = false } = {}): Promise<SchemaState> {
      let found = await state();
      if (found === null) {
        const version = (await isEmpty()) ? supported : 0;
        await retryOnDuplicateKey(() =>
          schema.updateOne({ _id: 'schema' }, { $setOnInsert: { version } }, { upsert: true }),
        );
        found = (await state()) ?? {
          version,
          required: version,
          hasTenants: false,
          adopting: null,
          migration: null,
        };
      }
      if (found.required > supported) throw new SchemaTooNew(found.required, supported);
      if (found.adopting !== null) throw new TenancyDiffers(beingAdopted(found.adopting));
      if (found.hasTenants !== hasTenants) await settleTenancy(found, hasTenants);
      return found;
    },

    /** Claims the migration to the next version; `null` when it is claimed already or not due yet. */
    async claim(from: number, claiming: Claiming): Promise<MigrationClaim | null> {
      const to = from + 1;
      await schema.updateOne(
        { _id: 'schema', version: from, migration: { $exists: false } },
        { $set: { migration: { to, due: claiming.now } } },
      );
      const document = await leases.claimOne('schema', claiming, { version: from, 'migration.to': to });
      if (document === null) return null;
      const { after = null, looked = 0 } = document.migration?.progress ?? {};
      return { id: 'schema', token: claiming.token, to, after, done: looked };
    },

    /** Prevents processes that write an older schema from starting, until `allowOlder`. `false`: the claim is void. */
    async requireVersion(claim: MigrationClaim): Promise<boolean> {
      const result = await schema.updateOne(leases.held(claim), { $set: { required: claim.to } });
      return result.matchedCount === 1;
    },

    async allowOlder(claim: MigrationClaim): Promise<void> {
      await schema.updateOne(leases.held(claim), { $unset: { required: 1 } });
    },

    /** Records progress and extends the lease. `false`: the claim is void. */
    checkpoint: (
      claim: MigrationClaim,
      progress: { readonly after: string; readonly looked: number },
      until: Date,
    ) =>
      leases.renew(claim, until, { 'migration.progress': literal(progress), 'migration.error': '$$REMOVE' }),

    /** All documents have the new schema. `false`: the claim is void. */
    async finish(claim: MigrationClaim): Promise<boolean> {
      const result = await schema.updateOne(leases.held(claim), {
        $set: { version: claim.to },
        $unset: { migration: 1, required: 1 },
      });
      return result.matchedCount === 1;
    },

    /** Due again from then on, from its checkpoint. Does nothing when the claim is void. */
    release: (claim: MigrationClaim, from: Date, failure?: Failure) => leases.release(claim, from, failure),
  };
}

function toState({ version, required, tenants, adopting, migration }: SchemaDocument): SchemaState {
  return {
    version,
    required: Math.max(version, required ?? 0),
    hasTenants: tenants ?? false,
    adopting: adopting ?? null,
    migration: migration ?? null,
  };
}
