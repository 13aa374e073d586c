import { createServer } from 'node:http';
import { buildSchema } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';

/** graphql-ws as its documentation shows it, with a subscription that says one thing and then nothing more. */
const schema = buildSchema('type Query { nothing: String } type Subscription { idle: String }');

async function* idle(): AsyncGenerator<{ readonly idle: string }, void, undefined> {
  yield { idle: 'ready' };
  await new Promise<never>(() => undefined);
}

const server = createServer();
useServer(
  { schema, roots: { subscription: { idle } } },
  new WebSocketServer({ server, path: '/graphql', perMessageDeflate: false }),
);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port');
  console.log(`Sockets ws://127.0.0.1:${String(address.port)}`);
});
