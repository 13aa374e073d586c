import '../later.css';
import { useQuery } from '@fanfare/react';
import { PackageCheck, RotateCw } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { ActionLine, LISTED, type ActionPage, type ListedAction } from '../ui/action-list.tsx';
import { allPages } from '../ui/all-pages.ts';
import { FailureGroups, type Failure } from '../ui/failures.tsx';
import { counted } from '../ui/count.ts';
import { isPerson } from '../ui/directory.ts';
import { Picker } from '../ui/picker.tsx';
import { RebuildState } from '../ui/rebuild-state.tsx';
import { useKnownEdges } from '../ui/said.ts';
import { States, Teach } from '../ui/states.tsx';
import { useClient } from '../ui/use-client.ts';
import { useEvery } from '../ui/use-every.ts';
import { AsCode } from '../ui/as-code.tsx';

const FAILED = `query Failed($after: String) {
  actions(first: 100, after: $after, fanOutState: FAILED, includeHidden: true) {
    edges { node { ${LISTED} } } pageInfo { hasNextPage endCursor } } }`;
const RETRY = 'mutation Retry($id: ID!) { retryFanOut(id: $id) { id } }';
const REBUILD = 'mutation Rebuild($memberId: String!) { rebuildFeed(memberId: $memberId) }';

/** What did not get to the readers, by its error; and feeds that are to be made again. */
export function DeliveriesScreen(): ReactNode {
  return (
    <>
      <FailedFanOuts />
      <Rebuild />
      <AsCode query={FAILED} command="doctor" />
    </>
  );
}

interface Failed {
  readonly actions: ActionPage;
}

function FailedFanOuts(): ReactNode {
  const client = useClient();
  const { data, error, isLoading, reload } = useQuery<Failed>(FAILED);
  const edges = useKnownEdges(data?.actions.edges);
  useEvery(5_000, reload);
  return (
    <section>
      <h2>Failed fan-outs</h2>
      <States
        isLoading={isLoading || (data !== undefined && edges === undefined)}
        {...{ error }}
        isEmpty={false}
        empty=""
        onRetry={reload}
      >
        <FailureGroups
          failures={edges?.map(({ node }) => failureOf(node))}
          isMore={data?.actions.pageInfo.hasNextPage === true}
          readAll={async () => {
            const read = async (after: string | null) =>
              (await client.request<Failed>(FAILED, { after })).actions;
            return (await allPages(read)).map(failureOf);
          }}
          noun="failed fan-outs"
          filter="Failed"
          empty={
            <Teach icon={PackageCheck} title="Everything has reached its readers.">
              A delivery that fails is tried again automatically; one that still fails is listed here by its
              error, and is tried again when its cause is mended.
            </Teach>
          }
          retry={(id) => client.request(RETRY, { id })}
          onDone={reload}
        />
      </States>
    </section>
  );
}

function failureOf(action: ListedAction): Failure {
  const { id, descriptor, fanOut } = action;
  return {
    id,
    cause: fanOut?.error ?? 'no error is known',
    title: descriptor.summary,
    shown: (
      <ActionLine action={action} meta={<span>after {counted(fanOut?.attempts ?? 0, 'attempt')}</span>} />
    ),
  };
}

function Rebuild(): ReactNode {
  const client = useClient();
  const [said, setSaid] = useState<ReactNode>('');
  const rebuild = async (memberId: string): Promise<void> => {
    try {
      await client.request(REBUILD, { memberId });
      setSaid(<RebuildState key={performance.now()} memberId={memberId} />);
    } catch (error) {
      setSaid(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <section className="card">
      <h2>Rebuild a feed</h2>
      <p className="hint">
        From the actions, as if all of them were delivered again; it can be read meanwhile.
      </p>
      <form
        className="filters"
        onSubmit={(event) => {
          event.preventDefault();
          void rebuild((new FormData(event.currentTarget).get('member') as string).trim());
        }}
      >
        <Picker name="member" label="Of" isRequired kind={isPerson} />
        <button type="submit">
          <RotateCw aria-hidden="true" /> Rebuild
        </button>
        <span role="status">{said}</span>
      </form>
    </section>
  );
}
