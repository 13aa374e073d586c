import { useQuery } from '@fanfare/react';
import type { ReactNode } from 'react';
import { goTo, hrefTo, useRoute } from '../route.ts';
import { ActionLine, LISTED, PageLinks, type ActionPage, type ListedAction } from '../ui/action-list.tsx';
import { AsCode } from '../ui/as-code.tsx';
import { Glossary, liftsOf, type Why } from '../ui/reasons.tsx';
import { States } from '../ui/states.tsx';
import { useEvery } from '../ui/use-every.ts';

/** Each is explained on its own, which is work for the server: a page is short. */
const SHOWN = 15;
const EVERY_MS = 5_000;
const ACTIONS = `query Recent($first: Int, $after: String) {
  actions(first: $first, after: $after, includeHidden: true) {
    edges { node { ${LISTED} actor { memberId } } } pageInfo { hasNextPage endCursor } } }`;
const WHY = `isInFeed isEntitled path relevancy addressedBy { reason via } withheldBy causes { kind }`;
const SIDES = ['all', 'in', 'out'] as const;

/** Why each of these actions is in the feed of a member or not, as one query. */
function explainAll(ids: readonly string[]): string {
  const declared = ids.map((_, n) => `, $a${String(n)}: ID!`).join('');
  const asked = ids.map(
    (_, n) => `a${String(n)}: explainFeedItem(actionId: $a${String(n)}, memberId: $member) { ${WHY} }`,
  );
  return `query Inspect($member: String!${declared}) { ${asked.join('\n')} }`;
}

/** Any member's feed: the latest actions, and beside each why it is in there or not. */
export function InspectorScreen(): ReactNode {
  const { id, query } = useRoute();
  const side = SIDES.find((one) => one === query.get('show')) ?? 'all';
  return (
    <>
      <h1>Inspector</h1>
      <form
        key={`${id} ${side}`}
        className="filters"
        onSubmit={(event) => {
          event.preventDefault();
          const given = new FormData(event.currentTarget);
          goTo('inspector', (given.get('id') as string).trim(), { show: given.get('show') as string });
        }}
      >
        <label>
          Feed of
          <input name="id" defaultValue={id} required />
        </label>
        <label>
          Show
          <select name="show" defaultValue={side}>
            <option value="all">all actions</option>
            <option value="in">what is in it</option>
            <option value="out">what is not in it</option>
          </select>
        </label>
        <button type="submit">Look</button>
      </form>
      {id === '' ? (
        <p className="empty">
          The id of a person, such as john: the latest actions, and why each is in that feed or not.
        </p>
      ) : (
        <Inspected key={id} memberId={id} side={side} />
      )}
    </>
  );
}

interface InspectedProps {
  readonly memberId: string;
  readonly side: (typeof SIDES)[number];
}

function Inspected({ memberId, side }: InspectedProps): ReactNode {
  const after = useRoute().query.get('after');
  const recent = useQuery<{ readonly actions: ActionPage }>(ACTIONS, { first: SHOWN, after });
  const actions = recent.data?.actions.edges.map(({ node }) => node) ?? [];
  useEvery(EVERY_MS, recent.reload);
  return (
    <>
      <States
        {...{ isLoading: recent.isLoading, error: recent.error }}
        isEmpty={actions.length === 0}
        empty="Nothing was published yet."
        onRetry={recent.reload}
      >
        <Explained {...{ memberId, actions, side }} />
        <PageLinks info={recent.data?.actions.pageInfo} />
      </States>
      <AsCode query={explainAll(['first'])} variables={{ member: memberId, a0: actions[0]?.id ?? '' }} />
    </>
  );
}

/** What was explained last stays while newer actions are explained. */
function Explained({
  memberId,
  actions,
  side,
}: InspectedProps & { readonly actions: readonly ListedAction[] }): ReactNode {
  const query = explainAll(actions.map(({ id }) => id));
  const ids = Object.fromEntries(actions.map(({ id }, n) => [`a${String(n)}`, id]));
  const { data, error, isLoading, reload } = useQuery<Readonly<Record<string, Why>>>(query, {
    member: memberId,
    ...ids,
  });
  useEvery(EVERY_MS, reload);
  const rows = actions.flatMap((action, n) => {
    const why = data?.[`a${String(n)}`];
    if (why !== undefined && side !== 'all' && why.isInFeed !== (side === 'in')) return [];
    return [{ action, why }];
  });
  return (
    <States {...{ isLoading, error }} isEmpty={rows.length === 0} empty="None of these." onRetry={reload}>
      <ul className="actions inspected" aria-label={`Why these are in the feed of ${memberId} or not`}>
        {rows.map(({ action, why }) => (
          <li key={action.id} data-in={why?.isInFeed}>
            <div>
              <ActionLine action={action} />
            </div>
            {why !== undefined && <Reasons why={why} />}
          </li>
        ))}
      </ul>
      <Glossary of={rows.flatMap(({ why }) => (why === undefined ? [] : [why]))} />
    </States>
  );
}

/** How an entry is read; what is stored is the rule, and needs no word. */
const PATHS: Readonly<Record<string, string>> = {
  PULLED: 'looked up for each reading, as the source has very many followers',
  SOURCE: 'read from the actions themselves',
};

/** In the words of the server, with what it came by. */
function Reasons({ why }: { readonly why: Why }): ReactNode {
  const { isInFeed, addressedBy, withheldBy, path } = why;
  const lifts = liftsOf(why);
  const ways = addressedBy.map(({ reason, via }) => (
    <span key={`${reason} ${via ?? ''}`}>
      {reason}
      {via !== null && (
        <>
          {' via '}
          <a href={hrefTo('slice', via)}>{via}</a>
        </>
      )}
    </span>
  ));
  return (
    <div className="why">
      <strong>{isInFeed ? 'in' : 'not in'}</strong>{' '}
      {isInFeed ? (
        <span className="meta">
          because of {ways}
          {PATHS[path] !== undefined && <span className="quiet">{PATHS[path]}</span>}
          {lifts.length > 0 && <span className="quiet">lifted by {lifts.join(', ')}</span>}
        </span>
      ) : (
        <span className="meta">
          {withheldBy.length === 0 ? 'not delivered yet' : `because ${withheldBy.join(', ')}`}
          {ways.length > 0 && <span className="quiet">though it is addressed: {ways}</span>}
        </span>
      )}
    </div>
  );
}
