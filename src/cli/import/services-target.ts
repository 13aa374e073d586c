import { FanfareError } from '../../domain/errors.ts';
import type { Identity } from '../../domain/viewer.ts';
import type { Services } from '../../services/create-services.ts';
import { BatchRefused, writeAround, type BatchOutcome, type ImportTarget } from './target.ts';

const IMPORTER: Identity = { userId: 'import', roles: new Set(['user', 'service']), expiresAt: null };

/** Writes through the services of this process. */
export function servicesTarget(
  services: Pick<Services, 'publishActions' | 'upsertMembers' | 'upsertRefs' | 'followMany'>,
  openFanOuts: () => Promise<number>,
): ImportTarget {
  return {
    writers: {
      members: (members) => writeAll(members, (batch) => services.upsertMembers(IMPORTER, batch)),
      refs: (refs) => writeAll(refs, (batch) => services.upsertRefs(IMPORTER, batch)),
      follows: (pairs) => writeAll(pairs, (batch) => services.followMany(IMPORTER, batch)),
      async actions(actions) {
        const outcomes = await services.publishActions(IMPORTER, actions, { isBulk: true });
        return {
          replays: outcomes.filter((outcome) => outcome.isReplay).length,
          faults: outcomes.flatMap(({ error }, index) =>
            error === null ? [] : [{ index, message: error.message }],
          ),
        };
      },
    },
    openFanOuts,
  };
}

async function writeAll<R>(
  records: readonly R[],
  write: (records: readonly R[]) => Promise<unknown>,
): Promise<BatchOutcome> {
  const faults = await writeAround(records, async (batch) => {
    try {
      await write(batch);
    } catch (error) {
      if (error instanceof FanfareError && error.code === 'BAD_USER_INPUT')
        throw new BatchRefused(error.message, error.issues);
      throw error;
    }
  });
  return { replays: 0, faults };
}
