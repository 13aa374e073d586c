import { cacheDocuments } from '@fanfare/client/cache';
import { Client, fetchExchange, gql, type TypedDocumentNode } from '@urql/core';
import { expect, test } from 'vitest';
import { createCacheExchange } from '../../src/cache.ts';

interface Slice {
  readonly slice: {
    readonly edges: readonly { readonly node: { readonly id: string } }[];
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  };
}

const SLICE: TypedDocumentNode<Slice, { readonly after?: string }> = gql`
  query ($after: String) {
    slice(refId: "site", first: 2, after: $after) {
      edges {
        cursor
        node {
          id
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`;

const answerOf = (ids: readonly string[], hasNextPage: boolean): Response => {
  const edges = ids.map((id) => ({
    ...{ __typename: 'ActionEdge', cursor: id, node: { __typename: 'Action', id } },
  }));
  const pageInfo = { __typename: 'PageInfo', hasNextPage, endCursor: ids.at(-1) ?? null };
  const slice = { __typename: 'ActionConnection', edges, pageInfo };
  return new Response(JSON.stringify({ data: { slice } }), {
    headers: { 'content-type': 'application/json' },
  });
};

test('a page that comes after the one before it was read again leaves no gap in the list', async () => {
  const answers: Promise<Response>[] = [];
  const client = new Client({
    ...{ url: 'http://server/graphql', preferGetMethod: false },
    fetch: () => answers.shift() ?? Promise.reject(new Error('No more answers')),
    exchanges: [createCacheExchange(cacheDocuments()), fetchExchange],
  });
  const ask = (after?: string) =>
    client.query(SLICE, after === undefined ? {} : { after }, { requestPolicy: 'network-only' }).toPromise();
  const shown = () => {
    const slice = client.readQuery(SLICE, {})?.data?.slice;
    return [slice?.edges.map(({ node }) => node.id).join(''), slice?.pageInfo];
  };
  answers.push(Promise.resolve(answerOf(['a', 'b'], true)));
  await ask();
  expect(shown()).toEqual(['ab', expect.objectContaining({ hasNextPage: true, endCursor: 'b' })]);
  let arrive: (answer: Response) => void = () => undefined;
  const late = new Promise<Response>((resolve) => {
    arrive = resolve;
  });
  answers.push(late, Promise.resolve(answerOf(['x', 'a'], true)));
  const more = ask('b');
  await ask();
  arrive(answerOf(['c', 'd'], false));
  await more;
  expect(shown()).toEqual(['xa', expect.objectContaining({ hasNextPage: true, endCursor: 'a' })]);
  answers.push(Promise.resolve(answerOf(['b', 'c'], true)), Promise.resolve(answerOf([], false)));
  await ask('a');
  expect(shown()).toEqual(['xabc', expect.objectContaining({ hasNextPage: true, endCursor: 'c' })]);
  await ask('c');
  expect(shown()).toEqual(['xabc', expect.objectContaining({ hasNextPage: false })]);
});
