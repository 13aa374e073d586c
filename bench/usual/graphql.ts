import { createServer } from 'node:http';
import { buildSchema } from 'graphql';
import { RedisPubSub } from 'graphql-redis-subscriptions';
import { useServer } from 'graphql-ws/use/ws';
import { Redis } from 'ioredis';
import { WebSocketServer } from 'ws';
import { listen } from '../programs/listen.ts';

/** Events by GraphQL as they are usually pushed: graphql-ws, and a channel of Redis for each reader. */
const [redisUrl = '', prefix = ''] = process.argv.slice(2);
const schema = buildSchema(`
  type Query { nothing: String }
  type Actor { memberId: String name: String }
  type Ref { refId: String type: String label: String }
  type Descriptor { type: String summary: String tags: [String] }
  type Engagement { comments: Int likes: Int reshares: Int lastInteraction: String }
  type Action {
    id: ID conducted: String scope: String actor: Actor refs: [Ref] descriptor: Descriptor engagement: Engagement
  }
  type Item { action: Action id: ID relevancy: String reasons: [String] isUnread: Boolean }
  type Event { item: Item cursor: String }
  type Subscription { feedEvents: Event }
`);
const pubSub = new RedisPubSub({ publisher: new Redis(redisUrl), subscriber: new Redis(redisUrl) });

async function* feedEvents(
  reader: string,
): AsyncGenerator<{ readonly feedEvents: unknown }, void, undefined> {
  const events = pubSub.asyncIterator<unknown>(`${prefix}${reader}`);
  // As much as a client needs to believe that it is subscribed.
  yield { feedEvents: { cursor: 'opened' } };
  for await (const event of { [Symbol.asyncIterator]: () => events }) yield { feedEvents: event };
}

const server = createServer();
useServer(
  {
    schema,
    context: ({ connectionParams }) => ({ reader: String(connectionParams?.['authorization']).slice(7) }),
    roots: {
      subscription: {
        feedEvents: (_args: unknown, context: { readonly reader: string }) => feedEvents(context.reader),
      },
    },
  },
  new WebSocketServer({ server, path: '/graphql', perMessageDeflate: false }),
);
listen(server, (place) => `Sockets ws://${place}`);
