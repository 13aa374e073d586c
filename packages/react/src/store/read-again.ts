const LARGEST_PAGE = 100;

interface Page<Edge> {
  readonly edges: readonly Edge[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/**
 * Reads a list from its top as far as it is shown, as one page.
 * @param size of a page
 * @param wanted how many are shown
 * @param reaches whether it has come to the last of them: what is new above pushes that down
 */
export async function readAgain<Edge, Of extends Page<Edge>>(
  read: (first: number, after: string | null) => Promise<Of & Page<Edge>>,
  size: number,
  wanted: number,
  reaches: (last: Edge) => boolean = () => true,
): Promise<Of> {
  const first = Math.max(size, Math.min(LARGEST_PAGE, wanted));
  const top = await read(first, null);
  let { edges, pageInfo } = top as Page<Edge>;
  for (;;) {
    const { endCursor, hasNextPage } = pageInfo;
    const last = edges.at(-1);
    if (!hasNextPage || endCursor === null || last === undefined) break;
    if (edges.length >= wanted && reaches(last)) break;
    const next: Page<Edge> = await read(first, endCursor);
    edges = [...edges, ...next.edges];
    pageInfo = next.pageInfo;
  }
  return { ...top, edges, pageInfo };
}
