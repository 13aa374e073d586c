import { Summary, useQuery, type SummaryPart } from '@fanfare/react';
import { useEffect, useRef, type ReactNode } from 'react';
import { hrefTo, useRoute } from '../route.ts';
import { hrefOfPart } from '../screens/feed.tsx';
import { States } from './states.tsx';
import { Time } from './time.tsx';

export interface ListedAction {
  readonly id: string;
  readonly conducted: string;
  readonly isHidden: boolean;
  readonly scope: string;
  readonly descriptor: {
    readonly type: string;
    readonly summary: string;
    readonly summaryParts: readonly SummaryPart[];
  };
  readonly fanOut: {
    readonly state: string;
    readonly error: string | null;
    readonly attempts: number;
  } | null;
}

/** Selection on Action for a list of them. */
export const LISTED = `id conducted isHidden scope
  descriptor { type summary summaryParts { text member { memberId } ref { refId } } }
  fanOut { state error attempts }`;

export interface ActionPage {
  readonly edges: readonly { readonly node: ListedAction }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

interface Props {
  /** A query of $after whose data has one connection of actions. */
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly pick: (data: unknown) => ActionPage | undefined;
  readonly empty: string;
  /** Another number reads it again behind what is shown. */
  readonly round?: number;
  /** Before an action, such as a box to select it. */
  readonly before?: (action: ListedAction) => ReactNode;
}

/** Actions page by page. Which page is in the address, as `after`. */
export function ActionList({ query, variables, pick, empty, round = 0, before }: Props): ReactNode {
  const after = useRoute().query.get('after');
  const { data, error, isLoading, reload } = useQuery<unknown>(query, { ...variables, after });
  const seen = useRef(round);
  useEffect(() => {
    if (seen.current !== round) reload();
    seen.current = round;
  }, [round, reload]);
  const page = data === undefined ? undefined : pick(data);
  return (
    <States {...{ isLoading, error, empty }} isEmpty={page?.edges.length === 0} onRetry={reload}>
      <ul className="actions">
        {page?.edges.map(({ node }) => (
          <li key={node.id} data-hidden={node.isHidden || undefined}>
            {before?.(node)}
            <div>
              <ActionLine action={node} />
            </div>
          </li>
        ))}
      </ul>
      <PageLinks info={page?.pageInfo} />
    </States>
  );
}

/** What an action says, in two lines. */
export function ActionLine({ action }: { readonly action: ListedAction }): ReactNode {
  const { id, conducted, descriptor, scope, isHidden } = action;
  return (
    <>
      <Summary item={{ action: action as never }} hrefOf={hrefOfPart} />
      <p className="meta">
        <a href={hrefTo('action', id)}>
          <Time at={conducted} />
        </a>
        <span>{descriptor.type}</span>
        <span>{scope}</span>
        {isHidden && <strong>hidden</strong>}
      </p>
    </>
  );
}

/** To the page behind this one, and back to the first: addresses, so that the way back of the browser goes by pages. */
export function PageLinks({ info }: { readonly info: ActionPage['pageInfo'] | undefined }): ReactNode {
  const { screen, id, query } = useRoute();
  const at = (after: string): string => hrefTo(screen, id, { ...Object.fromEntries(query), after });
  const next = info?.hasNextPage === true ? info.endCursor : null;
  return (
    <p className="buttons">
      {query.has('after') && <a href={at('')}>Latest</a>}
      {next !== null && <a href={at(next)}>Earlier</a>}
    </p>
  );
}
