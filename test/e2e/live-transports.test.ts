import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import {
  openStream,
  TRANSPORT_NAMES,
  type StreamOptions,
  type TransportMessage,
  type TransportName,
  type TransportStream,
} from '../support/client-transports.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { startTestHttp } from '../support/http.ts';
import { signTestToken } from '../support/tokens.ts';
import { uniqueName } from '../support/unique-name.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const SUBSCRIPTIONS_PER_USER = 2;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { SUBSCRIPTIONS_PER_USER: String(SUBSCRIPTIONS_PER_USER) } });
});
afterAll(async () => app[Symbol.asyncDispose]());

/** A reader who follows an actor, on one transport. */
interface Scene {
  readonly reader: string;
  open(options?: Partial<StreamOptions>): Promise<TransportStream>;
  /** Opens, and has got FeedReady. */
  watch(options?: Partial<StreamOptions>): Promise<TransportStream>;
  /** Publishes by the actor, and has it delivered. */
  publish(input?: object): Promise<string>;
}

async function openScene(transport: TransportName): Promise<Scene> {
  const [reader, actor] = [uniqueName('reader'), uniqueName('actor')];
  await upsert(app, { pairs: [{ followerId: reader, refId: actor }] });
  const open: Scene['open'] = async (options) =>
    openStream(transport, app, { token: await app.token(reader), ...options });
  return {
    reader,
    open,
    async watch(options) {
      const stream = await open(options);
      expect(await stream.next()).toMatchObject({ __typename: 'FeedReady' });
      return stream;
    },
    async publish(input = {}) {
      const id = await publish(app, { actorId: actor, ...input });
      await app.idle();
      return id;
    },
  };
}

async function take(stream: TransportStream, count: number): Promise<TransportMessage[]> {
  const messages: TransportMessage[] = [];
  for (let n = 0; n < count; n += 1) messages.push(await stream.next());
  return messages;
}

function actionsOf(messages: readonly TransportMessage[]): string[] {
  return messages.flatMap((message) => ('item' in message ? [message.item.action.id] : []));
}

const subscriptionsLeft = (count: number): Promise<unknown> =>
  vi.waitUntil(() => app.app.http?.stats().subscriptions === count, { timeout: PATIENCE_MS });

const tagged = { custom: { verb: 'posted', objectType: 'post', objectId: 'p', tags: ['hot'] } };

type Behaviour = readonly [what: string, check: (scene: Scene, transport: TransportName) => Promise<void>];

const OPENING: readonly Behaviour[] = [
  [
    'opens with FeedReady, whose cursor brings what comes after it',
    async (scene) => {
      await using stream = await scene.open();
      const first = await stream.next();
      expect(first).toEqual({ __typename: 'FeedReady', cursor: expect.stringMatching(/./) });
      const id = await scene.publish();
      await using again = await scene.watch({ after: first.cursor });
      expect(actionsOf(await take(again, 1))).toEqual([id]);
    },
  ],
  [
    'resumes behind a cursor with what was missed, once and in order',
    async (scene) => {
      const first = await scene.watch();
      await scene.publish();
      const { cursor } = await first.next();
      await first[Symbol.asyncDispose]();
      const missed = [await scene.publish(), await scene.publish()];
      await using second = await scene.watch({ after: cursor });
      const last = await scene.publish();
      expect(actionsOf(await take(second, 3))).toEqual([...missed, last]);
    },
  ],
  ...['nonsense', ''].map((after): Behaviour => [
    `tells who comes with the cursor "${after}" to query the feed again, and goes on`,
    async (scene) => {
      await using stream = await scene.watch({ after });
      expect(await stream.next()).toMatchObject({ __typename: 'FeedResync', reason: 'invalid-cursor' });
      const id = await scene.publish();
      expect(actionsOf(await take(stream, 1))).toEqual([id]);
    },
  ]),
];

const EVENTS: readonly Behaviour[] = [
  [
    'tells what is added, boosted and removed',
    async (scene) => {
      await using stream = await scene.watch();
      const boss = uniqueName('boss');
      await upsert(app, { members: [{ memberId: scene.reader, name: 'Reader', supervisorId: boss }] });
      expect(await stream.next()).toMatchObject({ __typename: 'FeedResync', reason: 'membership' });
      const id = await scene.publish({ conducted: '2026-01-01T00:00:00Z' });
      const added = await stream.next();
      expect(added).toMatchObject({ __typename: 'FeedItemAdded', item: { action: { id } } });
      const at = '2026-02-01T00:00:00.000Z';
      await ask(
        app,
        'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { action { id } } }',
        {
          input: { actionId: id, kind: 'COMMENT', at },
        },
        { sub: boss, roles: ['admin'] },
      );
      expect(await stream.next()).toMatchObject({
        __typename: 'FeedItemUpdated',
        item: { relevancy: at, action: { id } },
      });
      await ask(
        app,
        'mutation ($id: ID!) { hideFeedItem(actionId: $id) { actionId } }',
        { id },
        { sub: scene.reader },
      );
      expect(await stream.next()).toMatchObject({
        __typename: 'FeedItemRemoved',
        actionId: id,
        itemId: 'item' in added ? added.item.id : null,
      });
    },
  ],
  [
    'shows only what passes the filter',
    async (scene) => {
      await using stream = await scene.watch({ filter: { tags: ['hot'] } });
      await scene.publish();
      const hot = await scene.publish({ descriptor: tagged });
      expect(actionsOf(await take(stream, 1))).toEqual([hot]);
    },
  ],
  [
    'shows two tabs of one reader the same',
    async (scene) => {
      await using one = await scene.watch();
      await using other = await scene.watch();
      const ids = [await scene.publish(), await scene.publish()];
      const seen = await take(one, 2);
      expect(actionsOf(seen)).toEqual(ids);
      expect(await take(other, 2)).toEqual(seen);
    },
  ],
];

const REFUSALS: readonly Behaviour[] = [
  [
    'refuses a filter that makes no sense with BAD_USER_INPUT',
    async (scene) => {
      await using stream = await scene.open({ filter: { tags: [''] } });
      await expect(stream.next()).rejects.toMatchObject({
        code: 'BAD_USER_INPUT',
        extensions: { issues: [{ path: ['filter', 'tags', 0] }] },
      });
    },
  ],
  ...[
    ['an unknown field', 'subscription { nothing }'],
    ['a syntax error', 'subscription {'],
  ].map(([what, document]): Behaviour => [
    `refuses ${what ?? ''} with BAD_USER_INPUT`,
    async (scene) => {
      await using stream = await scene.open({ document: document ?? '' });
      await expect(stream.next()).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    },
  ]),
  ...[
    ['a token that is none', () => Promise.resolve('nonsense')],
    ['a token signed by somebody else', () => foreignToken()],
    ['a token that has ended', () => signTestToken({ sub: 'reader', exp: 1 })],
  ].map(([what, token]): Behaviour => [
    `refuses ${String(what)} with UNAUTHENTICATED`,
    async (scene) => {
      await using stream = await scene.open({ token: await (token as () => Promise<string>)() });
      await expect(stream.next()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    },
  ]),
  [
    'refuses more subscriptions than a reader may have with RATE_LIMITED, which others do not feel',
    async (scene, transport) => {
      await using first = await scene.watch();
      await using _second = await scene.watch();
      await using third = await scene.open();
      await expect(third.next()).rejects.toMatchObject({ code: 'RATE_LIMITED', isTemporary: true });
      await using _other = await (await openScene(transport)).watch();
      await first[Symbol.asyncDispose]();
      await subscriptionsLeft(SUBSCRIPTIONS_PER_USER);
      await using _again = await scene.watch();
    },
  ],
];

const ENDS: readonly Behaviour[] = [
  [
    'ends with UNAUTHENTICATED when the token does, and not before',
    async (scene) => {
      const exp = Math.floor(Date.now() / 1_000) + 6;
      await using stream = await scene.watch({ token: await signTestToken({ sub: scene.reader, exp }) });
      const id = await scene.publish();
      expect(actionsOf(await take(stream, 1))).toEqual([id]);
      await expect(stream.next()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
      expect(Date.now()).toBeGreaterThanOrEqual(exp * 1_000);
    },
  ],
  [
    'is broken off by a server that stops, so that clients come back',
    async (scene, transport) => {
      const server = await startTestHttp(app);
      await using stream = openStream(transport, server, { token: await app.token(scene.reader) });
      await stream.next();
      const broken = expect(stream.next()).rejects.toMatchObject({ code: 'NETWORK', isTemporary: true });
      await server.close();
      await broken;
    },
  ],
  [
    'is released at once by a client that aborts, even one that does not read',
    async (scene) => {
      await using reading = await scene.watch();
      await using unread = await scene.watch();
      await scene.publish();
      const waiting = expect(take(reading, 2)).rejects.toMatchObject({ code: 'NETWORK' });
      await subscriptionsLeft(2);
      reading.abort();
      unread.abort();
      await waiting;
      await subscriptionsLeft(0);
      await vi.waitUntil(() => app.app.http?.stats().sockets === 0, { timeout: PATIENCE_MS });
    },
  ],
];

function foreignToken(): Promise<string> {
  const exp = Math.floor(Date.now() / 1_000) + 3_600;
  return signTestToken({ sub: 'reader', exp }, { secret: 'the-secret-of-somebody-else-0123456789' });
}

/** What holds whatever a subscription comes by. */
describe.each(TRANSPORT_NAMES)('a subscription by %s', (transport) => {
  test.each([...OPENING, ...EVENTS, ...REFUSALS, ...ENDS])('%s', async (_what, check) => {
    await subscriptionsLeft(0);
    await check(await openScene(transport), transport);
  });
});
