import { useQuery } from '@fanfare/react';
import type { ReactNode } from 'react';
import { hrefTo } from '../route.ts';
import { counted } from './count.ts';
import { FirstOf } from './first-of.tsx';
import { States } from './states.tsx';
import { useEvery } from './use-every.ts';

const REACHED = `query Reached($id: ID!) { node(id: $id) { ... on Action {
  scope actor { memberId name followerCount } refs { refId label followerCount }
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
  const { fanOut } = action;
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
      <p className="meta">
        <span>{action.scope}</span>
        <FirstOf noun="sources">
          {sources.map(({ id, name, count }) => (
            <a key={id} href={hrefTo('slice', id)}>
              <bdi>{name}</bdi>, {counted(count, 'follower')}
            </a>
          ))}
        </FirstOf>
      </p>
      {fanOut !== null && <FanOutState fanOut={fanOut} />}
    </>
  );
}

/** Only operators and the actor are sent it. */
function FanOutState({ fanOut }: { readonly fanOut: FanOut }): ReactNode {
  return (
    <>
      <p role="status" className="fan-out" data-state={fanOut.state}>
        <strong>{fanOut.state}</strong>
        <span>
          reached <span className="figure">{counted(fanOut.delivered, 'reader')}</span>
        </span>
        <span>lane {fanOut.lane}</span>
        <span>attempt {fanOut.attempts}</span>
        <span>version {fanOut.version}</span>
        {fanOut.pulled && <span>read from its source by the other readers</span>}
      </p>
      {MOVING.has(fanOut.state) && <progress aria-label="Delivering" />}
      {fanOut.error !== null && <pre className="alert">{fanOut.error}</pre>}
    </>
  );
}
