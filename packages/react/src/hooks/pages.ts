import { useEffect, useMemo, useRef, useState } from 'react';
import { useProvided } from '../provider.tsx';
import { asError } from '../store/as-error.ts';
import { readAgain } from '../store/read-again.ts';
import { useSource } from './feed.ts';

export interface Connection<Node> {
  readonly edges: readonly { readonly node: Node }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

interface PagesState<Node, Page> {
  readonly source: object;
  readonly nodes: readonly Node[];
  /** The last one that was read. */
  readonly page: Page | null;
  /** What the reader's actions had heard before the last request. */
  readonly asked: number;
  readonly error: Error | null;
  readonly isLoadingMore: boolean;
}

/** What is read page by page. */
export interface Pages<Node, Page> {
  readonly nodes: readonly Node[];
  readonly page: Page | null;
  readonly asked: number;
  readonly status: 'loading' | 'ready' | 'error';
  readonly error: Error | null;
  readonly hasNextPage: boolean;
  readonly isLoadingMore: boolean;
  readonly loadMore: () => Promise<void>;
  /** Reads it again as far as it is shown, behind it. */
  readonly refresh: () => Promise<void>;
  /** The same, and rejects with what is then the error. */
  readonly readAgain: () => Promise<void>;
}

/** One request after the other: each goes on from what the one before has brought. What fails is shown, and thrown. */
class PageReader<Node extends { readonly id: string }, Page extends Connection<Node>> {
  readonly #read: (first: number, after: string | null) => Promise<Page>;
  readonly #show: (state: PagesState<Node, Page>) => void;
  readonly #now: () => number;
  #state: PagesState<Node, Page>;
  #reading: Promise<void> = Promise.resolve();
  #due: Promise<void> | null = null;
  #isOver = false;

  constructor(
    source: object,
    read: (first: number, after: string | null) => Promise<Page>,
    show: (state: PagesState<Node, Page>) => void,
    now: () => number,
    kept?: Page,
  ) {
    this.#read = read;
    this.#show = show;
    this.#now = now;
    this.#state = { source, nodes: [], page: null, asked: 0, error: null, isLoadingMore: false };
    if (kept !== undefined) this.#set({ nodes: kept.edges.map(({ node }) => node), page: kept });
  }

  /** All that is shown. Undefined: nothing was read yet. */
  readonly shown = (): Page | undefined => {
    const { page, nodes } = this.#state;
    return page === null ? undefined : { ...page, edges: nodes.map((node) => ({ node })) };
  };

  /** What changes while it waits for its turn is in the answer. */
  refresh(size: number): Promise<void> {
    return (this.#due ??= this.#queue(() => {
      this.#due = null;
      return readAgain(this.#read, size, this.#state.nodes.length);
    }));
  }

  loadMore(size: number): Promise<void> {
    if (this.#state.isLoadingMore) return Promise.resolve();
    this.#set({ isLoadingMore: true });
    return this.#queue(async () => {
      const { nodes, page } = this.#state;
      // The first has failed.
      if (page === null) return this.#read(size, null);
      if (!page.pageInfo.hasNextPage) return page;
      const next = await this.#read(size, page.pageInfo.endCursor);
      return { ...next, edges: [...nodes.map((node) => ({ node })), ...next.edges] };
    });
  }

  /** Asked again after every wait. */
  #hasEnded(): boolean {
    return this.#isOver;
  }

  /** What is still under way is shown to nobody. */
  end(): void {
    this.#isOver = true;
  }

  #queue(request: () => Promise<Page | null>): Promise<void> {
    const read = this.#reading.then(async () => {
      if (this.#isOver) return;
      const asked = this.#now();
      try {
        const page = await request();
        const nodes = new Map(page?.edges.map(({ node }) => [node.id, node]));
        this.#set({ nodes: [...nodes.values()], page, asked, error: null, isLoadingMore: false });
      } catch (error) {
        this.#set({ error: asError(error), isLoadingMore: false });
        if (!this.#hasEnded()) throw error;
      }
    });
    this.#reading = read.catch(() => undefined);
    return read;
  }

  #set(change: Partial<PagesState<Node, Page>>): void {
    this.#state = { ...this.#state, ...change };
    if (!this.#isOver) this.#show(this.#state);
  }
}

/**
 * A connection of the API, page by page: the first when mounted and when query or variables change. Nothing of other
 * variables or of another reader is ever shown.
 * @param query of $first and $after
 * @param pick must be the same function each time
 * @param what a name, for pages that are shown again when the next page has no connection
 */
export function usePages<Node extends { readonly id: string }, Page extends Connection<Node>>(
  query: string,
  variables: Readonly<Record<string, unknown>> & { readonly first: number },
  pick: (data: unknown) => Page,
  what?: string,
): Pages<Node, Page> {
  const { reader, isEnabled } = useProvided();
  const { client, actions } = reader;
  const key = `${query} ${JSON.stringify(variables)}`;
  const source = useSource(reader, key);
  const [state, setState] = useState<PagesState<Node, Page> | null>(null);
  const pages = useRef<PageReader<Node, Page> | null>(null);
  useEffect(() => {
    if (!isEnabled) return undefined;
    const abort = new AbortController();
    const read = async (first: number, after: string | null): Promise<Page> =>
      pick(await client.request<unknown>(query, { ...variables, first, after }, abort.signal));
    const keptAs = what === undefined ? null : `${what} ${JSON.stringify(variables)}`;
    // As the same hook has kept it.
    const kept = keptAs === null ? undefined : (reader.keptPage(keptAs) as unknown as Page | undefined);
    let keep = (): void => undefined;
    const show = (now: PagesState<Node, Page>): void => {
      setState(now);
      keep();
    };
    const mine = (pages.current = new PageReader(source, read, show, () => actions.now, kept));
    if (keptAs !== null) keep = reader.onPages(keptAs, mine.shown);
    mine.refresh(variables.first).catch(() => undefined);
    return () => {
      mine.end();
      abort.abort();
    };
    // The source says all of reader, query and variables.
  }, [source, actions, isEnabled, pick, what]);
  const current = state?.source === source ? state : null;
  return useMemo(() => {
    const { nodes = [], page = null, asked = 0, error = null, isLoadingMore = false } = current ?? {};
    const readAgain = async (): Promise<void> => pages.current?.refresh(variables.first);
    return {
      ...{ nodes, page, asked, error, isLoadingMore },
      status: page !== null ? 'ready' : error === null ? 'loading' : 'error',
      hasNextPage: page?.pageInfo.hasNextPage === true,
      loadMore: async () => pages.current?.loadMore(variables.first).catch(() => undefined),
      refresh: () => readAgain().catch(() => undefined),
      readAgain,
    };
  }, [current, variables.first]);
}
