import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { graphql, parse } from 'graphql';
import type { TestApp } from './app.ts';

/** What a host has beside the server: pictures of people, and orders that members made. */
export const HOST_TYPES = /* GraphQL */ `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key", "@shareable"])
  type Query {
    orders: [Order!]!
  }
  type Order @key(fields: "number") {
    number: Int!
    buyer: Member!
    about: Ref
    announced: Action
  }
  type Member @key(fields: "memberId") {
    memberId: String!
    shoeSize: Int!
  }
  type Ref @key(fields: "refId", resolvable: false) {
    refId: String!
  }
  type Action @key(fields: "id", resolvable: false) {
    id: ID!
  }
  type PageInfo @shareable {
    hasNextPage: Boolean!
  }
`;

export interface Order {
  readonly number: number;
  readonly buyer: { readonly memberId: string };
  readonly about?: { readonly refId: string };
  readonly announced?: { readonly id: string };
}

export interface HostSubgraph extends AsyncDisposable {
  readonly url: string;
  /** How many representations each request for entities had. */
  readonly asked: number[];
}

/** Shoe sizes are the lengths of ids. */
export async function startHostSubgraph(orders: readonly Order[]): Promise<HostSubgraph> {
  const schema = buildSubgraphSchema({
    typeDefs: parse(HOST_TYPES),
    resolvers: {
      Query: { orders: () => orders },
      Member: {
        __resolveReference: (member: Order['buyer']) => member,
        shoeSize: ({ memberId }: Order['buyer']) => memberId.length,
      },
    },
  });
  const asked: number[] = [];
  const server = createServer((req, res) => {
    void (async () => {
      let text = '';
      for await (const chunk of req.setEncoding('utf8') as AsyncIterable<string>) text += chunk;
      const { query, variables = {} } = JSON.parse(text) as {
        query: string;
        variables?: Record<string, unknown>;
      };
      if (Array.isArray(variables['representations'])) asked.push(variables['representations'].length);
      const result = await graphql({ schema, source: query, variableValues: variables });
      res.setHeader('content-type', 'application/json').end(JSON.stringify(result));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}/`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The schema that gateways get. */
export async function sdlOf(app: TestApp): Promise<string> {
  const { data, errors } = await app.query<{ _service: { sdl: string } }>(
    '{ _service { sdl } }',
    {},
    { sub: 'gateway', roles: ['service'] },
  );
  if (data === null) throw new Error(JSON.stringify(errors));
  return data._service.sdl;
}

/** The schema of the whole graph, by the composition of Apollo. Fails with what cannot be composed. */
export function composed(
  sdl: string,
  { url, host }: { readonly url: string; readonly host: string },
): string {
  const { supergraphSdl, errors } = composeServices([
    { name: 'fanfare', url, typeDefs: parse(sdl) },
    { name: 'host', url: host, typeDefs: parse(HOST_TYPES) },
  ]);
  if (supergraphSdl === undefined) throw new Error(errors.map(({ message }) => message).join('\n'));
  return supergraphSdl;
}
