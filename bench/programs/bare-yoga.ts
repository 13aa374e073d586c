import { createServer } from 'node:http';
import { createSchema, createYoga } from 'graphql-yoga';
import { listen } from './listen.ts';

/** Yoga as its documentation shows it, with one answer that is always the same, of so many bytes. */
const length = Number(process.argv[2]);
const page = 'x'.repeat(Math.max(0, length - Buffer.byteLength('{"data":{"page":""}}')));
const yoga = createYoga({
  schema: createSchema({
    typeDefs: 'type Query { page: String! }',
    resolvers: { Query: { page: () => page } },
  }),
  logging: false,
});
const server = createServer((req, res) => void yoga(req, res));
listen(server, (place) => `GraphQL http://${place}/graphql`);
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
