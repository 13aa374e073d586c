import { useQuery } from '@fanfare/react';
import type { ReactNode } from 'react';
import { hrefTo } from '../route.ts';
import { counted, shownNumber } from './count.ts';
import { FirstOf } from './first-of.tsx';
import { States } from './states.tsx';
import { Time } from './time.tsx';
import { useEvery } from './use-every.ts';
import { markOf, wordFor } from './words.ts';

const REACHED = `query Reached($id: ID!) { node(id: $id) { ... on Action {
  scope conducted actor { memberId name followerCount } refs { refId label followerCount }
  descriptor { summary }
  fanOut { state lane version attempts delivered pulled error } } } }`;

interface FanOut {
  readonly state: string;
  readonly lane: string;
  readonly version: number;
  readonly attempts: number;
  readonly delivered: number;
  readonly pulled: boolean;
  readonly error: string | null;
}

interface ReachedData {
  readonly node: {
    readonly scope: string;
    readonly conducted: string;
    readonly actor: { readonly memberId: string; readonly name: string; readonly followerCount: number };
    readonly refs: readonly {
      readonly refId: string;
      readonly label: string;
      readonly followerCount: number;
    }[];
    readonly descriptor: { readonly summary: string };
    readonly fanOut: FanOut | null;
  } | null;
}

const MOVING: ReadonlySet<string> = new Set(['PENDING', 'IN_PROGRESS']);

/** Whom an action is for and whom it has reached, as its fan-out moves. */
export function Reached({ actionId }: { readonly actionId: string }): ReactNode {
  const { data, error, isLoading, reload } = useQuery<ReachedData>(REACHED, { id: actionId });
  const action = data?.node ?? null;
  const fanOut = action?.fanOut ?? null;
  useEvery(fanOut === null || MOVING.has(fanOut.state) ? 400 : 5_000, reload);
  return (
    <section className="card">
      <h2>Audience</h2>
      <States
        {...{ isLoading, error }}
        isEmpty={action === null}
        empty="There is no such action any more."
        onRetry={reload}
      >
        {action !== null && <Audience action={action} />}
      </States>
    </section>
  );
}

function Audience({ action }: { readonly action: NonNullable<ReachedData['node']> }): ReactNode {
  const { fanOut, conducted } = action;
  const sources = [
    { id: action.actor.memberId, name: action.actor.name, count: action.actor.followerCount },
    ...action.refs.map(({ refId, label, followerCount }) => ({
      id: refId,
      name: label,
      count: followerCount,
    })),
  ];
  return (
    <>
      {fanOut !== null && <FanOutPath {...{ fanOut, conducted }} />}
      <p className="meta">
        <span>For {wordFor(action.scope)}:</span>
        <FirstOf noun="sources">
          {sources.map(({ id, name, count }) => (
            <a key={id} className="chip" href={hrefTo('slice', id)}>
              <bdi>{name}</bdi> {counted(count, 'follower')}
            </a>
          ))}
        </FirstOf>
      </p>
    </>
  );
}

/** From published to delivered, as a line with stations. Only operators and the actor are sent it. */
function FanOutPath({
  fanOut,
  conducted,
}: {
  readonly fanOut: FanOut;
  readonly conducted: string;
}): ReactNode {
  const { state, lane, attempts, delivered, version, pulled, error } = fanOut;
  const isBegun = state !== 'PENDING' || attempts > 0;
  const isDone = state === 'DONE';
  const stations = [
    { name: 'Published', is: true, what: <Time at={conducted} /> },
    { name: 'Claimed', is: isBegun, what: `lane ${lane.toLowerCase()}` },
    {
      name: 'Delivering',
      is: delivered > 0 || isDone,
      what: isDone ? counted(attempts, 'attempt') : `${shownNumber(delivered)} so far`,
    },
    {
      name: wordFor(state === 'FAILED' ? 'FAILED' : 'DONE'),
      is: isDone,
      what: isDone ? counted(delivered, 'reader') : '',
    },
  ];
  return (
    <>
      <ol className="path" aria-label="Its way to the readers">
        {stations.map(({ name, is, what }, at) => (
          <li
            key={at}
            data-done={is || undefined}
            data-failed={(state === 'FAILED' && at === stations.length - 1) || undefined}
          >
            <strong>{name}</strong>
            <span>{what}</span>
          </li>
        ))}
      </ol>
      <p role="status" className="fan-out" data-state={state}>
        <span className="state" data-is={markOf(state)}>
          {wordFor(state)}
        </span>
        <span>
          reached <span className="figure">{counted(delivered, 'reader')}</span>
        </span>
        <span className="quiet">
          attempt {attempts}, version {version}
        </span>
        {pulled && <span className="quiet">read from its source by the other readers</span>}
      </p>
      {error !== null && <pre className="alert">{error}</pre>}
    </>
  );
}
