import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useHeld } from '../provider.tsx';
import { asError } from '../store/as-error.ts';

export interface Connection<Node> {
  readonly edges: readonly { readonly node: Node }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

interface PagesState<Node, Page> {
  readonly key: string;
  readonly nodes: readonly Node[];
  /** The last one that was read. */
  readonly page: Page | null;
  readonly error: Error | null;
  readonly isLoadingMore: boolean;
}

/** What is read page by page. */
export interface Pages<Node, Page> {
  readonly nodes: readonly Node[];
  readonly page: Page | null;
  readonly status: 'loading' | 'ready' | 'error';
  readonly error: Error | null;
  readonly hasNextPage: boolean;
  readonly isLoadingMore: boolean;
  readonly loadMore: () => Promise<void>;
  /** Reads the first page again behind what is shown. */
  readonly refresh: () => Promise<void>;
}

/**
 * A connection of the API, page by page: the first when mounted and when query or variables change. Nothing of other
 * variables is ever shown.
 * @param query of $after
 * @param pick must be the same function each time
 */
export function usePages<Node extends { readonly id: string }, Page extends Connection<Node>>(
  query: string,
  variables: Readonly<Record<string, unknown>>,
  pick: (data: unknown) => Page | null,
): Pages<Node, Page> {
  const { reader, isEnabled } = useHeld();
  const { client } = reader;
  const key = `${query} ${JSON.stringify(variables)}`;
  const [state, setState] = useState<PagesState<Node, Page> | null>(null);
  const latest = useRef({ key, variables });
  useEffect(() => {
    latest.current = { key, variables };
  });
  const read = useCallback(
    async (after: string | null, known: readonly Node[], signal?: AbortSignal): Promise<void> => {
      // Of a request that was overtaken by other variables nothing is shown.
      const isCurrent = (): boolean => signal?.aborted !== true && latest.current.key === key;
      try {
        const given = { ...latest.current.variables, after };
        const page = pick(await client.request<unknown>(query, given, signal));
        if (!isCurrent()) return;
        const ids = new Set(known.map(({ id }) => id));
        const found = page?.edges.map(({ node }) => node).filter(({ id }) => !ids.has(id)) ?? [];
        setState({ key, nodes: [...known, ...found], page, error: null, isLoadingMore: false });
      } catch (reason) {
        if (!isCurrent()) return;
        const error = asError(reason);
        const fresh = { key, nodes: known, page: null };
        setState((last) => ({ ...(last?.key === key ? last : fresh), error, isLoadingMore: false }));
      }
    },
    [client, key, query, pick],
  );
  useEffect(() => {
    if (!isEnabled) return undefined;
    const abort = new AbortController();
    void read(null, [], abort.signal);
    return () => {
      abort.abort();
    };
  }, [isEnabled, read]);
  const current = state?.key === key ? state : null;
  return useMemo(() => {
    const { nodes = [], page = null, error = null, isLoadingMore = false } = current ?? {};
    const next = page?.pageInfo.hasNextPage === true ? page.pageInfo.endCursor : null;
    return {
      ...{ nodes, page, error, isLoadingMore },
      status: page !== null ? 'ready' : error === null ? 'loading' : 'error',
      hasNextPage: next !== null,
      loadMore: async () => {
        if (next === null || isLoadingMore) return;
        setState((last) => last && { ...last, isLoadingMore: true });
        await read(next, nodes);
      },
      refresh: () => read(null, []),
    };
  }, [current, read]);
}
