import { Summary, useQuery, type SummaryPart } from '@fanfare/react';
import { useState, type ReactNode } from 'react';
import { hrefTo } from '../route.ts';
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
  /** Before an action, such as a box to select it. */
  readonly before?: (action: ListedAction) => ReactNode;
  readonly after?: (action: ListedAction) => ReactNode;
}

/** Actions page by page. */
export function ActionList({ query, variables, pick, empty, before, after }: Props): ReactNode {
  const [cursors, setCursors] = useState<readonly (string | null)[]>([null]);
  const cursor = cursors.at(-1) ?? null;
  const { data, error, isLoading, reload } = useQuery<unknown>(query, { ...variables, after: cursor });
  const page = data === undefined ? undefined : pick(data);
  const next = page?.pageInfo.hasNextPage === true ? page.pageInfo.endCursor : null;
  return (
    <States {...{ isLoading, error, empty }} isEmpty={page?.edges.length === 0} onRetry={reload}>
      <ul className="actions">
        {page?.edges.map(({ node }) => (
          <li key={node.id} data-hidden={node.isHidden || undefined}>
            {before?.(node)}
            <div>
              <Summary item={{ action: node as never }} hrefOf={hrefOfPart} />
              <p className="meta">
                <a href={hrefTo('action', node.id)}>
                  <Time at={node.conducted} />
                </a>
                <span>{node.descriptor.type}</span>
                <span>{node.scope}</span>
                {node.isHidden && <strong>hidden</strong>}
              </p>
              {after?.(node)}
            </div>
          </li>
        ))}
      </ul>
      <p className="buttons">
        {cursors.length > 1 && (
          <button type="button" onClick={() => setCursors((all) => all.slice(0, -1))}>
            Later
          </button>
        )}
        {next !== null && (
          <button type="button" onClick={() => setCursors((all) => [...all, next])}>
            Earlier
          </button>
        )}
      </p>
    </States>
  );
}
