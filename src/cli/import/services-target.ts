import { FanfareError } from '../../domain/errors.ts';
import type { Tenant } from '../../domain/tenant.ts';
import { withoutTenant } from '../../domain/tenant-text.ts';
import type { Identity } from '../../domain/viewer.ts';
import type { Core } from '../../services/core.ts';
import { storedInput } from '../../services/tenants/stored-input.ts';
import { actingIn } from '../tenant.ts';
import { BatchRefused, writeAround, type BatchOutcome, type ImportTarget } from './target.ts';
import { followMany } from '../../services/follow/follow.ts';
import { upsertMembers, upsertRefs } from '../../services/members/directory.ts';
import { publishActions } from '../../services/publish/publish-action.ts';

const IMPORTER: Identity = { userId: 'import', roles: new Set(['user', 'service']), expiresAt: null };

/** Writes through the services of this process; with tenants, into one of them. */
export function servicesTarget(
  core: Core,
  { tenant, ...waiting }: { readonly tenant: Tenant | null } & Pick<ImportTarget, 'openFanOuts' | 'workers'>,
): ImportTarget {
  const importer = actingIn(tenant, IMPORTER);
  const shown = (message: string): string => (tenant === null ? message : withoutTenant(tenant, message));
  const stored = <T extends object>(input: T): T => (tenant === null ? input : storedInput(tenant, input));
  return {
    writers: {
      members: (members) => writeAll(members, shown, (batch) => upsertMembers(core, importer, stored(batch))),
      refs: (refs) =>
        writeAll(refs, shown, (batch) => upsertRefs(core, importer, stored({ refs: batch }).refs)),
      follows: (pairs) => writeAll(pairs, shown, (batch) => followMany(core, importer, stored(batch))),
      async actions(actions) {
        const outcomes = await publishActions(core, importer, stored(actions), { isBulk: true });
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
