import { Summary, useQuery } from '@fanfare/react';
import { useState, type ReactNode } from 'react';
import { hrefTo } from '../route.ts';
import { LISTED, type ActionPage, type ListedAction } from '../ui/action-list.tsx';
import { allPages } from '../ui/all-pages.ts';
import { FailureGroups, type Failure } from '../ui/failures.tsx';
import { counted, shownNumber } from '../ui/count.ts';
import { RebuildState } from '../ui/rebuild-state.tsx';
import { States } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { useClient } from '../ui/use-client.ts';
import { useEvery } from '../ui/use-every.ts';
import { WORK, type Work } from '../ui/work.ts';
import { AsCode } from '../ui/as-code.tsx';
import { hrefOfPart } from './feed.tsx';

const FAILED = `query Failed($after: String) {
  actions(first: 100, after: $after, fanOutState: FAILED, includeHidden: true) {
    edges { node { ${LISTED} } } pageInfo { hasNextPage endCursor } } }`;
const RETRY = 'mutation Retry($id: ID!) { retryFanOut(id: $id) { id } }';
const REBUILD = 'mutation Rebuild($memberId: String!) { rebuildFeed(memberId: $memberId) }';
const ERASURES = `query Erasures { erasures(first: 20) { edges { node {
  memberId state step changed requestedBy startedAt finishedAt } } } }`;

interface Erasures {
  readonly erasures: {
    readonly edges: readonly {
      readonly node: {
        readonly memberId: string | null;
        readonly state: string;
        readonly step: string | null;
        readonly changed: number;
        readonly startedAt: string;
      };
    }[];
  };
}

export function WorkScreen(): ReactNode {
  const { data, error, isLoading, reload } = useQuery<Work>(WORK);
  useEvery(2_000, reload);
  const work = data?.work;
  return (
    <>
      <h1>Work</h1>
      <States {...{ isLoading, error }} isEmpty={false} empty="" onRetry={reload}>
        {work !== undefined && (
          <dl className="figures">
            {[
              ...work.lanes.map(({ lane, pending, oldestSeconds }) => [
                `waiting, ${lane.toLowerCase()}${pending > 0 ? `, oldest ${oldestSeconds.toFixed(1)} s` : ''}`,
                pending,
              ]),
              ...[['failed fan-outs', work.failedFanOuts] as const, ['watchers', work.watchers] as const],
              ...[['workers', work.workers] as const, ['rebuilds due', work.rebuildsDue] as const],
              ['renames due', work.renamesDue] as const,
            ].map(([name, figure]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{shownNumber(Number(figure))}</dd>
              </div>
            ))}
          </dl>
        )}
      </States>
      <FailedFanOuts />
      <Rebuild />
      <ErasureList />
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
  useEvery(5_000, reload);
  return (
    <section>
      <h2>Failed fan-outs</h2>
      <States {...{ isLoading, error }} isEmpty={false} empty="" onRetry={reload}>
        <FailureGroups
          failures={data?.actions.edges.map(({ node }) => failureOf(node))}
          isMore={data?.actions.pageInfo.hasNextPage === true}
          readAll={async () => {
            const read = async (after: string | null) =>
              (await client.request<Failed>(FAILED, { after })).actions;
            return (await allPages(read)).map(failureOf);
          }}
          noun="failed fan-outs"
          filter="State FAILED"
          retry={(id) => client.request(RETRY, { id })}
          onDone={reload}
        />
      </States>
    </section>
  );
}

function failureOf(action: ListedAction): Failure {
  const { id, conducted, descriptor, fanOut } = action;
  return {
    id,
    cause: fanOut?.error ?? 'no error is known',
    title: descriptor.summary,
    shown: (
      <>
        <Summary item={{ action: action as never }} hrefOf={hrefOfPart} />
        <p className="meta">
          <a href={hrefTo('action', id)}>
            <Time at={conducted} />
          </a>
          <span>after {counted(fanOut?.attempts ?? 0, 'attempt')}</span>
        </p>
      </>
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
      <form
        className="filters"
        onSubmit={(event) => {
          event.preventDefault();
          void rebuild((new FormData(event.currentTarget).get('member') as string).trim());
        }}
      >
        <label>
          Member
          <input name="member" required />
        </label>
        <button type="submit">Rebuild</button>
        <span role="status">{said}</span>
      </form>
    </section>
  );
}

function ErasureList(): ReactNode {
  const { data, error, isLoading, reload } = useQuery<Erasures>(ERASURES);
  useEvery(5_000, reload);
  const erasures = data?.erasures.edges ?? [];
  return (
    <section className="card">
      <h2>Erasures</h2>
      <States {...{ isLoading, error }} isEmpty={erasures.length === 0} empty="None." onRetry={reload}>
        <ul className="plain">
          {erasures.map(({ node }, at) => (
            <li key={at}>
              <strong>{node.state}</strong>{' '}
              {node.memberId === null ? '–' : <a href={hrefTo('member', node.memberId)}>{node.memberId}</a>}{' '}
              {node.step ?? ''}, {shownNumber(node.changed)} changed <Time at={node.startedAt} />
            </li>
          ))}
        </ul>
      </States>
    </section>
  );
}
