import '../later.css';
import { useQuery } from '@fanfare/react';
import { ScanSearch } from 'lucide-react';
import type { ReactNode } from 'react';
import { goTo, hrefTo, useRoute } from '../route.ts';
import { ActionLine, LISTED, PageLinks, type ActionPage, type ListedAction } from '../ui/action-list.tsx';
import { AsCode } from '../ui/as-code.tsx';
import { isPerson } from '../ui/directory.ts';
import { PersonTabs } from '../ui/person.tsx';
import { Picker } from '../ui/picker.tsx';
import { Reasons, WHY, type Why } from '../ui/reasons.tsx';
import { useKnownEdges } from '../ui/said.ts';
import { States, Teach } from '../ui/states.tsx';
import { useEvery } from '../ui/use-every.ts';

/** Each is explained on its own, which is work for the server: a page is short. */
const SHOWN = 15;
const EVERY_MS = 5_000;
const ACTIONS = `query Recent($first: Int, $after: String) {
  actions(first: $first, after: $after, includeHidden: true) {
    edges { node { ${LISTED} } } pageInfo { hasNextPage endCursor } } }`;
const SIDES = [
  ['all', 'All actions'],
  ['in', 'In the feed'],
  ['out', 'Not in it'],
] as const;
type Side = (typeof SIDES)[number][0];

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
  const side = SIDES.find(([one]) => one === query.get('show'))?.[0] ?? 'all';
  return (
    <>
      {id !== '' && <PersonTabs id={id} />}
      <form
        className="filters"
        onSubmit={(event) => {
          event.preventDefault();
          const given = (new FormData(event.currentTarget).get('id') as string).trim();
          goTo('inspector', given, { show: side });
        }}
      >
        <Picker
          name="id"
          label="Feed of"
          defaultValue={id}
          isRequired
          kind={isPerson}
          onPick={(picked) => goTo('inspector', picked, { show: side })}
        />
        <button type="submit">Look</button>
        <nav className="tabs" aria-label="Which actions">
          {SIDES.map(([name, title]) => (
            <a
              key={name}
              href={hrefTo('inspector', id, { show: name })}
              aria-current={name === side ? 'true' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
      </form>
      {id === '' ? (
        <div className="empty">
          <Teach icon={ScanSearch} title="Why does Mary not see this?">
            Choose a person: the latest actions are listed here, and beside each why it is in that feed or
            not.
          </Teach>
        </div>
      ) : (
        <Inspected memberId={id} side={side} />
      )}
    </>
  );
}

interface InspectedProps {
  readonly memberId: string;
  readonly side: Side;
}

function Inspected({ memberId, side }: InspectedProps): ReactNode {
  const after = useRoute().query.get('after');
  const recent = useQuery<{ readonly actions: ActionPage }>(ACTIONS, { first: SHOWN, after });
  const edges = useKnownEdges(recent.data?.actions.edges);
  const actions = edges?.map(({ node }) => node) ?? [];
  useEvery(EVERY_MS, recent.reload);
  return (
    <>
      <States
        isLoading={recent.isLoading || (recent.data !== undefined && edges === undefined)}
        error={recent.error}
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
            {why !== undefined && <Reasons {...{ why, action }} />}
          </li>
        ))}
      </ul>
    </States>
  );
}
