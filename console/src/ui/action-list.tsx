import { useQuery, type SummaryPart } from '@fanfare/react';
import { useEffect, useRef, type ReactNode } from 'react';
import { hrefTo, useRoute } from '../route.ts';
import { Entry } from './entry.tsx';
import { useKnownEdges } from './said.ts';
import { States } from './states.tsx';
import { markOf, titled, wordFor } from './words.ts';

export interface ListedAction {
  readonly id: string;
  readonly conducted: string;
  readonly isHidden: boolean;
  readonly scope: string;
  readonly actor: { readonly memberId: string; readonly name: string; readonly imageUrl: string | null };
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
export const LISTED = `id conducted isHidden scope actor { memberId name imageUrl }
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
  readonly empty: ReactNode;
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
  const edges = useKnownEdges(page?.edges);
  return (
    <States
      {...{ error, empty }}
      isLoading={isLoading || (page !== undefined && edges === undefined)}
      isEmpty={(edges?.length ?? 0) === 0}
      onRetry={reload}
    >
      <ul className="actions">
        {edges?.map(({ node }) => (
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

interface LineProps {
  readonly action: ListedAction;
  readonly meta?: ReactNode;
}

/** What an action says, of what kind it is, for whom, and whether it has got there. */
export function ActionLine({ action, meta }: LineProps): ReactNode {
  const { descriptor, scope, isHidden, fanOut } = action;
  return (
    <Entry
      action={action}
      meta={
        <>
          {isHidden && <strong>hidden</strong>}
          {fanOut !== null && (
            <span className="state" data-is={markOf(fanOut.state)}>
              {wordFor(fanOut.state)}
            </span>
          )}
          {meta}
          <span dir="auto">{titled(descriptor.type)}</span>
          <span>for {wordFor(scope)}</span>
        </>
      }
    />
  );
}

/** To the page behind this one, and back to the first: addresses, so that the way back of the browser goes by pages. */
export function PageLinks({ info }: { readonly info: ActionPage['pageInfo'] | undefined }): ReactNode {
  const { screen, id, query } = useRoute();
  const at = (after: string): string => hrefTo(screen, id, { ...Object.fromEntries(query), after });
  const next = info?.hasNextPage === true ? info.endCursor : null;
  if (!query.has('after') && next === null) return null;
  return (
    <p className="buttons">
      {query.has('after') && (
        <a className="button" href={at('')}>
          Latest
        </a>
      )}
      {next !== null && (
        <a className="button" href={at(next)}>
          Earlier
        </a>
      )}
    </p>
  );
}
