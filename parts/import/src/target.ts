import type { RecordKind, Records } from './records.ts';
import { ApiError, type ApiClient } from '../../../src/cli/api-client.ts';
import { CommandError } from '../../../src/cli/context.ts';
import { FanfareError } from '../../../src/domain/errors.ts';
import type { Identity } from '../../../src/domain/viewer.ts';
import type { Core } from '../../../src/core/core.ts';
import type { Acting } from '../../../src/core/stored-input.ts';
import { followMany } from '../../../src/features/follow/follow.ts';
import { upsertMembers, upsertRefs } from '../../../src/features/directory/directory.ts';
import { publishActions } from '../../../src/features/publish/publish-action.ts';

const IMPORTER: Identity = { userId: 'import', roles: new Set(['user', 'service']), expiresAt: null };

/** Writes through the services of this process. */
export function servicesTarget(
  core: Core,
  acting: Acting,
  waiting: Pick<ImportTarget, 'openFanOuts' | 'workers'>,
): ImportTarget {
  const importer = acting.as(IMPORTER);
  const shown = (message: string): string => acting.shown(message);
  const stored = <T extends object>(input: T): T => acting.stored(input);
  return {
    writers: {
      members: (members) => writeAll(members, shown, (batch) => upsertMembers(core, importer, stored(batch))),
      refs: (refs) =>
        writeAll(refs, shown, (batch) => upsertRefs(core, importer, stored({ refs: batch }).refs)),
      follows: (pairs) => writeAll(pairs, shown, (batch) => followMany(core, importer, stored(batch))),
      async actions(actions) {
        return outcomeOf(await publishActions(core, importer, stored(actions), { isBulk: true }), shown);
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

const MEMBERS = /* GraphQL */ `
  mutation ImportMembers($records: [MemberInput!]!) {
    upsertMembers(members: $records)
  }
`;
const REFS = /* GraphQL */ `
  mutation ImportRefs($records: [RefInput!]!) {
    upsertRefs(refs: $records)
  }
`;
const FOLLOWS = /* GraphQL */ `
  mutation ImportFollows($records: [FollowInput!]!) {
    followMany(pairs: $records)
  }
`;
const ACTIONS = /* GraphQL */ `
  mutation ImportActions($records: [PublishActionInput!]!) {
    publishActions(inputs: $records, isBulk: true) {
      isReplay
      error {
        message
      }
    }
  }
`;
const WORK = /* GraphQL */ `
  query ImportWork {
    work {
      lanes {
        pending
      }
    }
  }
`;

const WORKERS = /* GraphQL */ `
  query ImportWorkers {
    work {
      workers
    }
  }
`;

type Outcomes = readonly {
  readonly isReplay: boolean;
  readonly error: { readonly message: string } | null;
}[];

function outcomeOf(outcomes: Outcomes, shown = (message: string): string => message): BatchOutcome {
  return {
    replays: outcomes.filter((outcome) => outcome.isReplay).length,
    faults: outcomes.flatMap(({ error }, index) =>
      error === null ? [] : [{ index, message: shown(error.message) }],
    ),
  };
}

interface Work {
  readonly work: { readonly workers: number; readonly lanes: readonly { readonly pending: number }[] };
}

/** Writes through the API of a running server, with a token that has the role service. */
export function apiTarget(client: ApiClient): ImportTarget {
  const writeAll = async (mutation: string, records: readonly unknown[]): Promise<BatchOutcome> => {
    const faults = await writeAround(records, (batch) =>
      client.run(mutation, { records: batch }).catch(throwRefused),
    );
    return { replays: 0, faults };
  };
  return {
    writers: {
      members: (records) => writeAll(MEMBERS, records),
      refs: (records) => writeAll(REFS, records),
      follows: (records) => writeAll(FOLLOWS, records),
      async actions(records) {
        const { publishActions: outcomes } = await client.run<{ readonly publishActions: Outcomes }>(
          ACTIONS,
          {
            records,
          },
        );
        return outcomeOf(outcomes);
      },
    },
    async openFanOuts() {
      const { work } = await client.run<Work>(WORK, {}).catch(throwNotAdmin);
      return work.lanes.reduce((sum, { pending }) => sum + pending, 0);
    },
    async workers() {
      const { work } = await client.run<Work>(WORKERS, {}).catch(throwNotAdmin);
      return work.workers;
    },
  };
}

function throwRefused(error: unknown): never {
  if (error instanceof ApiError && error.code === 'BAD_USER_INPUT')
    throw new BatchRefused(error.message, error.issues);
  throw error;
}

function throwNotAdmin(error: unknown): never {
  if (error instanceof ApiError && error.code === 'FORBIDDEN')
    throw new CommandError(
      'Everything is imported, but only a token with the role admin can wait for the fan-out',
    );
  throw error;
}

export interface RecordFault {
  readonly index: number;
  readonly message: string;
}

export interface BatchOutcome {
  /** Actions that already existed. */
  readonly replays: number;
  readonly faults: readonly RecordFault[];
}

/** Destination of an import, with one function per kind of record. All writes are repeatable. */
export type ImportWriters = {
  readonly [K in RecordKind]: (records: readonly Records[K][]) => Promise<BatchOutcome>;
};

export interface ImportTarget {
  readonly writers: ImportWriters;
  /** Number of undelivered actions. Rejects with CommandError when unknown. */
  openFanOuts(): Promise<number>;
  /** Number of running workers that could deliver them. Rejects like `openFanOuts`. */
  workers(): Promise<number>;
}

export class BatchRefused extends Error {
  override readonly name = 'BatchRefused';
  /** Faulty records, as far as the server reported them. */
  readonly faults: readonly RecordFault[];

  constructor(
    message: string,
    issues: readonly { readonly path: readonly unknown[]; readonly message: string }[],
  ) {
    super(message);
    this.faults = issues.flatMap(faultOf);
  }
}

/** The first number in an issue's path is the position in the batch. */
function faultOf(issue: { readonly path: readonly unknown[]; readonly message: string }): RecordFault[] {
  const at = issue.path.findIndex((key) => typeof key === 'number');
  const index = issue.path[at];
  if (typeof index !== 'number') return [];
  const field = issue.path
    .slice(at + 1)
    .map(String)
    .join('.');
  return [{ index, message: field === '' ? issue.message : `${field}: ${issue.message}` }];
}

/**
 * Writes a batch that is accepted or rejected as a whole: removes faulty records and tries again. If the server does not
 * identify them, finds them by bisection.
 */
export async function writeAround<R>(
  records: readonly R[],
  write: (records: readonly R[]) => Promise<unknown>,
): Promise<RecordFault[]> {
  if (records.length === 0) return [];
  try {
    await write(records);
    return [];
  } catch (error) {
    if (!(error instanceof BatchRefused)) throw error;
    const named = new Map(
      error.faults.filter(({ index }) => index in records).map((fault) => [fault.index, fault]),
    );
    if (named.size === 0) return writeHalves(records, write, error.message);
    const kept = records.flatMap((record, index) => (named.has(index) ? [] : [{ record, index }]));
    const rest = await writeAround(
      kept.map(({ record }) => record),
      write,
    );
    return [
      ...named.values(),
      ...rest.map(({ index, message }) => ({ index: kept[index]?.index ?? index, message })),
    ];
  }
}

async function writeHalves<R>(
  records: readonly R[],
  write: (records: readonly R[]) => Promise<unknown>,
  message: string,
): Promise<RecordFault[]> {
  if (records.length === 1) return [{ index: 0, message }];
  const half = records.length >> 1;
  const first = await writeAround(records.slice(0, half), write);
  const second = await writeAround(records.slice(half), write);
  return [...first, ...second.map((fault) => ({ ...fault, index: fault.index + half }))];
}
