interface Page<Node> {
  readonly edges: readonly { readonly node: Node }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** More than anybody tries again by hand; what is left shows up when these are done. */
const MOST = 2_000;

/** A list from its first page to its last, up to so many. @param read gives the page behind a cursor */
export async function allPages<Node>(read: (after: string | null) => Promise<Page<Node>>): Promise<Node[]> {
  const nodes: Node[] = [];
  let after: string | null = null;
  do {
    const { edges, pageInfo }: Page<Node> = await read(after);
    nodes.push(...edges.map(({ node }) => node));
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  } while (after !== null && nodes.length < MOST);
  return nodes;
}
