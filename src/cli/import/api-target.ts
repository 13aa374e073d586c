import { ApiError, type ApiClient } from '../api-client.ts';
import { CommandError } from '../context.ts';
import { BatchRefused, writeAround, type BatchOutcome, type ImportTarget } from './target.ts';

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

interface PublishedActions {
  readonly publishActions: readonly {
    readonly isReplay: boolean;
    readonly error: { readonly message: string } | null;
  }[];
}

interface Work {
  readonly work: { readonly lanes: readonly { readonly pending: number }[] };
}

interface Workers {
  readonly work: { readonly workers: number };
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
        const { publishActions: outcomes } = await client.run<PublishedActions>(ACTIONS, { records });
        return {
          replays: outcomes.filter((outcome) => outcome.isReplay).length,
          faults: outcomes.flatMap(({ error }, index) =>
            error === null ? [] : [{ index, message: error.message }],
          ),
        };
      },
    },
    async openFanOuts() {
      const { work } = await client.run<Work>(WORK, {}).catch(throwNotAdmin);
      return work.lanes.reduce((sum, { pending }) => sum + pending, 0);
    },
    async workers() {
      const { work } = await client.run<Workers>(WORKERS, {}).catch(throwNotAdmin);
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
