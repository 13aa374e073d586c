import { FanfareError } from '../../domain/errors.ts';
import type { Tenant } from '../../domain/tenant.ts';
import { withoutTenant } from '../../domain/tenant-text.ts';
import type { Identity } from '../../domain/viewer.ts';
import type { Services } from '../../services/create-services.ts';
import { storedInput } from '../../services/tenants/stored-input.ts';
import { actingIn } from '../tenant.ts';
import { BatchRefused, writeAround, type BatchOutcome, type ImportTarget } from './target.ts';

const IMPORTER: Identity = { userId: 'import', roles: new Set(['user', 'service']), expiresAt: null };

/** Writes through the services of this process; with tenants, into one of them. */
export function servicesTarget(
  services: Services,
  { tenant, ...waiting }: { readonly tenant: Tenant | null } & Pick<ImportTarget, 'openFanOuts' | 'workers'>,
): ImportTarget {
  const importer = actingIn(tenant, IMPORTER);
  const shown = (message: string): string => (tenant === null ? message : withoutTenant(tenant, message));
  const stored = <T extends object>(input: T): T => (tenant === null ? input : storedInput(tenant, input));
  return {
    writers: {
      members: (members) =>
        writeAll(members, shown, (batch) => services.upsertMembers(importer, stored(batch))),
      refs: (refs) =>
        writeAll(refs, shown, (batch) => services.upsertRefs(importer, stored({ refs: batch }).refs)),
      follows: (pairs) => writeAll(pairs, shown, (batch) => services.followMany(importer, stored(batch))),
      async actions(actions) {
        const outcomes = await services.publishActions(importer, stored(actions), { isBulk: true });
        return {
          replays: outcomes.filter((outcome) => outcome.isReplay).length,
          faults: outcomes.flatMap(({ error }, index) =>
            error === null ? [] : [{ index, message: shown(error.message) }],
          ),
        };
      },
    },
    ...waiting,
  };
}

async function writeAll<R>(
  records: readonly R[],
  shown: (message: string) => string,
  write: (records: readonly R[]) => Promise<unknown>,
): Promise<BatchOutcome> {
  const faults = await writeAround(records, async (batch) => {
    try {
      await write(batch);
    } catch (error) {
      if (error instanceof FanfareError && error.code === 'BAD_USER_INPUT')
        throw new BatchRefused(shown(error.message), error.issues);
      throw error;
    }
  });
  return { replays: 0, faults };
}
