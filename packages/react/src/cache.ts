'use client';

import type { Fields } from '@fanfare/client';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { ACTION_FIELDS, feedItemFields, type FanfareAction, type FanfareItem } from './item.ts';
import { useReader } from './provider.tsx';
import { asError } from './store/as-error.ts';

/** What a cache has of each that the parts draw: for `createFanfare<CacheFields>`. */
export interface CacheFields {
  readonly action: FanfareAction;
  readonly item: Omit<FanfareItem, 'action'>;
  readonly comment: object;
  readonly notification: object;
}

/** The `fields` of `createFanfare` of `@fanfare/apollo` or `@fanfare/urql` for the parts. @param fields what you show beyond */
export function cacheFields({ action = '', item = '', ...rest }: Fields = {}): Fields {
  return { ...rest, action: `${ACTION_FIELDS} ${action}`, item: `${feedItemFields} ${item}` };
}

interface Page<Node> {
  readonly edges: readonly { readonly node: Node }[];
  readonly pageInfo: { readonly hasNextPage: boolean };
}

interface CacheList<Node> {
  read(): Page<Node> | undefined;
  load(): Promise<void>;
  loadMore(): Promise<void>;
  watch(): () => void;
  subscribe(listener: (page: Page<Node> | undefined) => void): () => void;
}

/**
 * A list that a cache keeps, for `Feed.Root`: read and kept up to date while this is mounted. From then on parts and hooks know its actions
 * by their ids, as those of the lists of this package.
 * @param list of `createFanfare<CacheFields>({ …, fields: cacheFields() })`; keep it: another one is read again
 */
export function useCacheList<Node extends FanfareItem | FanfareAction>(
  list: CacheList<Node>,
): {
  readonly items: readonly Node[];
  readonly status: 'loading' | 'ready' | 'error';
  readonly error: Error | null;
  readonly hasNextPage: boolean;
  readonly isLoadingMore: boolean;
  readonly loadMore: () => Promise<void>;
  /** Reads it again. */
  readonly retry: () => Promise<void>;
} {
  const { actions } = useReader();
  const [isLoadingMore, setLoadingMore] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const store = useMemo(() => {
    let page = list.read();
    const look = (): void => {
      for (const { node } of page?.edges ?? []) {
        const action: FanfareAction = 'action' in node ? node.action : node;
        if (actions.confirmed(action.id) !== action) actions.confirm(action);
      }
      actions.emit();
    };
    return {
      get: () => page,
      subscribe: (listener: () => void) => {
        look();
        return list.subscribe((next) => {
          page = next;
          look();
          listener();
        });
      },
    };
  }, [list, actions]);
  const page = useSyncExternalStore(store.subscribe, store.get, store.get);
  useEffect(() => list.watch(), [list]);
  return useMemo(() => {
    const attempt = async (run: () => Promise<void>): Promise<void> => {
      setError(null);
      try {
        await run();
      } catch (reason) {
        setError(asError(reason));
      }
    };
    return {
      items: page?.edges.map(({ node }) => node) ?? [],
      status: page !== undefined ? 'ready' : error === null ? 'loading' : 'error',
      ...{ error, isLoadingMore, hasNextPage: page?.pageInfo.hasNextPage ?? false },
      retry: () => attempt(() => list.load()),
      async loadMore() {
        setLoadingMore(true);
        await attempt(() => list.loadMore());
        setLoadingMore(false);
      },
    };
  }, [list, page, error, isLoadingMore]);
}
