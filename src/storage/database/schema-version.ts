import type { Collection } from 'mongodb';
import { retryOnDuplicateKey } from './errors.ts';
import type { MigrationDocument, SchemaDocument } from '../documents/installation-documents.ts';
import type { Collections } from './mongo.ts';

/** One worker's hold on the migration that is due: valid until the lease ends. */
export interface MigrationClaim {
  readonly token: string;
  readonly to: number;
  /** Where the next batch begins; null: at the beginning. */
  readonly after: string | null;
  readonly done: number;
}

export interface SchemaState {
  readonly version: number;
  /** No process that writes an older shape may start. Never above what is stored at the end of the migration. */
  readonly required: number;
  /** Ids are stored behind their tenant. */
  readonly hasTenants: boolean;
  /** Its ids are being put behind this tenant. */
  readonly adopting: string | null;
  readonly migration: Omit<MigrationDocument, 'worker'> | null;
}

/** The database was written by a newer release. */
export class SchemaTooNew extends Error {
  override readonly name = 'SchemaTooNew';

  constructor(required: number, supported: number) {
    super(
      `The database has schema version ${String(required)}, and this release knows versions up to ${String(supported)}: run a newer release`,
    );
  }
}

/** Whether ids are stored behind their tenant is another than the settings say. */
export class TenancyDiffers extends Error {
  override readonly name = 'TenancyDiffers';
}

const HAS_TENANTS =
  'TENANT_CLAIM is not set, and the database has tenants: set it as it was when the data were written';
const HAS_NONE =
  'TENANT_CLAIM is set, and the database has data without tenants: take an empty one (MONGODB_DB), unset TENANT_CLAIM, ' +
  'or make all of it the data of one tenant: fanfare tenant adopt <name>';
const beingAdopted = (tenant: string): string =>
  `The database is being made that of the tenant ${tenant}: fanfare tenant adopt ${tenant} goes on with it`;

/** The one document that says which shape the others have. Unique key: `_id`. */
export function schemaVersionRepository(
  collections: Pick<Collections, 'schema' | 'actions' | 'members' | 'refs' | 'follows' | 'feeds'>,
) {
  const { schema, actions, members, refs, follows, feeds } = collections;
  const ownedBy = ({ token, to }: MigrationClaim) =>
    ({ _id: 'schema', 'migration.worker': token, 'migration.to': to }) as const;

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

  /** Only what is empty takes tenants; it has them from then on. */
  async function settleTenancy(hasTenants: boolean): Promise<void> {
    if (!hasTenants) throw new TenancyDiffers(HAS_TENANTS);
    if (!(await isEmpty())) throw new TenancyDiffers(HAS_NONE);
    await schema.updateOne({ _id: 'schema' }, { $set: { tenants: true } });
  }

  return {
    state,

    /**
     * Reads the version, and notes it first where there is none: an empty database has the latest shape, any other one the
     * shape from before versions were counted. One round trip but for the first time.
     * @param options.hasTenants whether this process stores ids behind their tenant. Default: no.
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
      if (found.hasTenants !== hasTenants) await settleTenancy(hasTenants);
      return found;
    },

    /**
     * From now on nobody may work on the database but who puts its ids behind the tenant: also who went on with it after it
     * was cut off. False: it has tenants, is being made that of another one, is empty, or has not the latest shape.
     */
    async beginAdoption(tenant: string, latest: number): Promise<boolean> {
      const { matchedCount } = await schema.updateOne(
        {
          ...{ _id: 'schema', version: latest },
          ...{ migration: { $exists: false }, tenants: { $exists: false } },
          $or: [{ adopting: { $exists: false } }, { adopting: tenant }],
        },
        { $set: { adopting: tenant } },
      );
      return matchedCount === 1;
    },

    /** Nothing has been changed: it is without tenants, as before. */
    async leaveAdoption(tenant: string): Promise<void> {
      await schema.updateOne({ _id: 'schema', adopting: tenant }, { $unset: { adopting: 1 } });
    },

    /** Every id stands behind the tenant. */
    async finishAdoption(tenant: string): Promise<void> {
      await schema.updateOne(
        { _id: 'schema', adopting: tenant },
        { $set: { tenants: true }, $unset: { adopting: 1 } },
      );
    },

    /** Leases the migration to the version after the stored one; null when somebody else has it or it is not due yet. */
    async claim(
      from: number,
      { token, now, leaseMs }: { readonly token: string; readonly now: Date; readonly leaseMs: number },
    ): Promise<MigrationClaim | null> {
      const to = from + 1;
      await schema.updateOne(
        { _id: 'schema', version: from, migration: { $exists: false } },
        { $set: { migration: { to, after: null, done: 0, startedAt: now, dueAt: now } } },
      );
      const document = await schema.findOneAndUpdate(
        { _id: 'schema', version: from, 'migration.to': to, 'migration.dueAt': { $lte: now } },
        { $set: { 'migration.worker': token, 'migration.dueAt': new Date(now.getTime() + leaseMs) } },
        { returnDocument: 'after' },
      );
      if (document?.migration === undefined) return null;
      const { after, done } = document.migration;
      return { token, to, after, done };
    },

    /** From now on no process that writes an older shape can start. Taken back by `allowOlder`. False: the claim is void. */
    async requireVersion(claim: MigrationClaim): Promise<boolean> {
      const result = await schema.updateOne(ownedBy(claim), { $set: { required: claim.to } });
      return result.matchedCount === 1;
    },

    async allowOlder(claim: MigrationClaim): Promise<void> {
      await schema.updateOne(ownedBy(claim), { $unset: { required: 1 } });
    },

    /** Notes what the batches have done and extends the lease. False: the claim is void. */
    async checkpoint(
      claim: MigrationClaim,
      { after, done, dueAt }: Pick<MigrationDocument, 'after' | 'done' | 'dueAt'>,
    ): Promise<boolean> {
      const result = await schema.updateOne(ownedBy(claim), {
        $set: { 'migration.after': after, 'migration.done': done, 'migration.dueAt': dueAt },
        $unset: { 'migration.error': 1 },
      });
      return result.matchedCount === 1;
    },

    /** Every document has the new shape. False: the claim is void. */
    async finish(claim: MigrationClaim): Promise<boolean> {
      const result = await schema.updateOne(ownedBy(claim), {
        $set: { version: claim.to },
        $unset: { migration: 1, required: 1 },
      });
      return result.matchedCount === 1;
    },

    /** Gives the claim back with its checkpoint. Nothing happens when it is void. */
    async release(claim: MigrationClaim, dueAt: Date, error: string | null): Promise<void> {
      await schema.updateOne(ownedBy(claim), {
        $set: { 'migration.dueAt': dueAt, ...(error === null ? {} : { 'migration.error': error }) },
        $unset: { 'migration.worker': 1 },
      });
    },
  };
}

export type SchemaVersionRepository = ReturnType<typeof schemaVersionRepository>;

function toState({ version, required, tenants, adopting, migration }: SchemaDocument): SchemaState {
  return {
    version,
    required: Math.max(version, required ?? 0),
    hasTenants: tenants ?? false,
    adopting: adopting ?? null,
    migration: migration ?? null,
  };
}
