import { Time, useQuery } from '@fanfare/react';
import { useState, type ReactNode } from 'react';
import { hrefTo } from '../route.ts';
import { ActionList, LISTED, type ActionPage, type ListedAction } from '../ui/action-list.tsx';
import { ConfirmDialog } from '../ui/confirm.tsx';
import { States } from '../ui/states.tsx';
import { useClient } from '../ui/use-client.ts';
import { useEvery } from '../ui/use-every.ts';
import { WORK, type Work } from '../ui/work.ts';
import { AsCode } from '../ui/as-code.tsx';

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
                `${lane.toLowerCase()}${pending > 0 ? `, oldest ${oldestSeconds.toFixed(1)} s` : ''}`,
                pending,
              ]),
              ...[['failed', work.failedFanOuts] as const, ['watchers', work.watchers] as const],
              ...[['workers', work.workers] as const, ['rebuilds due', work.rebuildsDue] as const],
              ['renames due', work.renamesDue] as const,
            ].map(([name, figure]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{figure}</dd>
              </div>
            ))}
          </dl>
        )}
      </States>
      <FailedFanOuts />
      <Rebuild />
      <ErasureList />
      <AsCode query={FAILED} command="npx fanfare doctor" />
    </>
  );
}

/** Grouped by their error; one or all of the page again. */
function FailedFanOuts(): ReactNode {
  const client = useClient();
  const [round, setRound] = useState(0);
  const [shown, setShown] = useState<readonly ListedAction[]>([]);
  const [asked, setAsked] = useState<readonly ListedAction[]>([]);
  const [failure, setFailure] = useState<string | null>(null);
  const retry = async (actions: readonly ListedAction[]): Promise<void> => {
    setAsked([]);
    setFailure(null);
    for (const { id } of actions) {
      try {
        await client.request(RETRY, { id });
      } catch (error) {
        setFailure(error instanceof Error ? error.message : String(error));
      }
    }
    setRound((last) => last + 1);
  };
  const pick = (data: unknown): ActionPage | undefined => {
    const page = (data as { readonly actions?: ActionPage }).actions;
    if (page === undefined) return undefined;
    const errorOf = (one: (typeof page.edges)[number]): string => one.node.fanOut?.error ?? '';
    return { ...page, edges: [...page.edges].sort((a, b) => errorOf(a).localeCompare(errorOf(b))) };
  };
  const read = async (): Promise<void> => {
    const page = pick(await client.request(FAILED));
    setShown(page?.edges.map(({ node }) => node) ?? []);
    setAsked(page?.edges.map(({ node }) => node) ?? []);
  };
  return (
    <section className="card">
      <h2>Failed fan-outs</h2>
      <p className="buttons">
        <button type="button" onClick={() => void read()}>
          Retry all …
        </button>
      </p>
      {failure !== null && (
        <p role="alert" className="alert">
          {failure}
        </p>
      )}
      <ActionList
        query={`${FAILED} # ${String(round)}`}
        variables={{}}
        pick={pick}
        empty="None has failed."
        after={(action) => (
          <p className="meta">
            <code>{action.fanOut?.error}</code> after {action.fanOut?.attempts} attempts
            <button type="button" onClick={() => void retry([action])}>
              Retry
            </button>
          </p>
        )}
      />
      <ConfirmDialog
        isOpen={asked.length > 0}
        title={`Retry ${String(asked.length)} failed fan-outs?`}
        confirm="Retry"
        onConfirm={() => void retry(shown)}
        onClose={() => setAsked([])}
      >
        <ul>
          {asked.slice(0, 5).map(({ id, descriptor }) => (
            <li key={id}>{descriptor.summary}</li>
          ))}
        </ul>
      </ConfirmDialog>
    </section>
  );
}

function Rebuild(): ReactNode {
  const client = useClient();
  const [said, setSaid] = useState('');
  const rebuild = async (memberId: string): Promise<void> => {
    try {
      const { rebuildFeed } = await client.request<{ readonly rebuildFeed: string }>(REBUILD, { memberId });
      setSaid(`The feed of ${memberId}: ${rebuildFeed}`);
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
              {node.step ?? ''}, {node.changed} changed <Time at={node.startedAt} />
            </li>
          ))}
        </ul>
      </States>
    </section>
  );
}
