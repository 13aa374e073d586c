import { createClient, type Client } from 'graphql-ws';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { decodeLiveCursor, readerTag, type LogPosition } from '../../src/live/live-log.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { repeats, SEED } from '../support/seed.ts';
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';

const READER = 'ann';
const OTHERS = ['bea', 'cid', 'dan'];
const ADMIN = { sub: 'root', roles: ['admin'] } as const;
const TAG = readerTag(READER);
/** Fewer than a connection may have. */
const AT_ONCE = 10;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => app[Symbol.asyncDispose]());

interface Message {
  readonly __typename: string;
  readonly cursor: string;
  /** What a count says. */
  readonly counts?: unknown;
  readonly unseen?: unknown;
  readonly unread?: unknown;
  /** What an entry says, and where it stands. */
  readonly entry?: { readonly id: string };
  readonly gone?: string;
}

interface View {
  /** Entries by id, as JSON. */
  readonly entries: ReadonlyMap<string, string>;
  readonly counts: string;
}

/** A subscription, and the list that its events keep up to date. Both name what they have in the same way. */
interface Subscribed {
  readonly events: string;
  readonly list: string;
  readonly listOf: (data: never) => { readonly nodes: readonly { id: string }[]; readonly counts: unknown };
}

const ITEM = 'id relevancy reasons isUnread action { isHidden engagement { comments likes reshares } }';
const NOTIFICATION = 'id kind at isSeen isRead count { count isExact } actors { memberId }';

const SUBSCRIPTIONS: Readonly<Record<string, Subscribed>> = {
  feedEvents: {
    events: `subscription ($after: String) { events: feedEvents(after: $after) { __typename cursor
      ... on FeedItemAdded { entry: item { ${ITEM} } } ... on FeedItemUpdated { entry: item { ${ITEM} } }
      ... on FeedItemRemoved { gone: itemId } ... on UnreadCountChanged { counts: unread { count isExact } } } }`,
    list: `{ feed(first: 100) { edges { node { ${ITEM} } } unread { count isExact } liveCursor } }`,
    listOf: ({ feed }: { feed: { edges: { node: { id: string } }[]; unread: unknown } }) => ({
      nodes: feed.edges.map(({ node }) => node),
      counts: feed.unread,
    }),
  },
  notificationEvents: {
    events: `subscription ($after: String) { events: notificationEvents(after: $after) { __typename
      ... on NotificationsReady { cursor } ... on NotificationsResync { cursor }
      ... on NotificationAdded { cursor entry: notification { ${NOTIFICATION} } }
      ... on NotificationUpdated { cursor entry: notification { ${NOTIFICATION} } }
      ... on NotificationRemoved { cursor gone: notificationId }
      ... on NotificationCountsChanged { cursor unseen { count isExact } unread { count isExact } } } }`,
    list: `{ notifications(first: 100) { edges { node { ${NOTIFICATION} } }
      unseen { count isExact } unread { count isExact } } }`,
    listOf: ({
      notifications: { edges, unseen, unread },
    }: {
      notifications: { edges: { node: { id: string } }[]; unseen: unknown; unread: unknown };
    }) => ({ nodes: edges.map(({ node }) => node), counts: { unseen, unread } }),
  },
};

test('each subscription of the schema is cut here', async () => {
  const { __schema } = await ask<{
    __schema: { subscriptionType: { fields: { name: string }[] } };
  }>(app, '{ __schema { subscriptionType { fields { name } } } }');
  expect(__schema.subscriptionType.fields.map(({ name }) => name).sort()).toEqual(
    Object.keys(SUBSCRIPTIONS).sort(),
  );
});

interface World {
  readonly random: SeededRandom;
  /** Of the reader. */
  readonly own: string[];
  readonly actions: string[];
}

const interact = async (sub: string, input: object): Promise<unknown> =>
  ask(
    app,
    'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { interaction { id } } }',
    { input },
    { sub },
  );

/** Each does what one message or several say. */
const HAPPENINGS: readonly ((world: World) => Promise<unknown>)[] = [
  // Several messages at once, each about another notification.
  async ({ actions, random }) => {
    const inputs = [1, 2, 3].map(() => ({
      actorId: random.pick(OTHERS),
      scope: 'PUBLIC',
      mentions: [READER],
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: 'post-1' } },
    }));
    const { publishActions } = await ask<{ publishActions: { action: { id: string } }[] }>(
      app,
      'mutation ($inputs: [PublishActionInput!]!) { publishActions(inputs: $inputs) { action { id } } }',
      { inputs },
    );
    actions.push(...publishActions.map(({ action }) => action.id));
  },
  ({ own, random }) =>
    interact(random.pick(OTHERS), {
      actionId: random.pick(own),
      ...random.pick([
        { kind: 'LIKE' },
        { kind: 'RESHARE' },
        { kind: 'REACTION', reaction: 'heart' },
        { kind: 'COMMENT', text: 'So' },
        { kind: 'COMMENT', text: 'So?', mentions: [READER] },
      ]),
    }),
  ({ actions, random }) =>
    interact(random.pick(OTHERS), { actionId: random.pick(actions), kind: 'COMMENT', text: 'Oh' }),
  // One message about all kinds of notifications.
  ({ own, random }) => change(random.pick(['hide', 'unhide']), random.pick(own)),
  ({ actions, random }) => change(random.pick(['hide', 'unhide']), random.pick(actions)),
];

const change = (verb: string, id: string): Promise<unknown> =>
  ask(app, `mutation ($id: ID!) { ${verb}Action(id: $id) { id } }`, { id }, ADMIN);

/** What is hidden may be meant as well. */
function ifHidden(error: unknown): void {
  if (!String(error).includes('NOT_FOUND')) throw error;
}

async function happen(world: World): Promise<void> {
  const { own, random } = world;
  const [first = ''] = own;
  for (const [index, input] of [
    { kind: 'LIKE' },
    { kind: 'RESHARE' },
    { kind: 'COMMENT', text: 'Here', mentions: [READER] },
    { kind: 'COMMENT', text: 'There' },
  ].entries())
    await interact(OTHERS[index % OTHERS.length] ?? '', { actionId: first, ...input });
  await app.idle();
  await change('hide', first);
  await app.idle();
  for (let step = 0; step < repeats(12); step += 1) {
    await random.pick(HAPPENINGS)(world).catch(ifHidden);
    if (random.below(2) === 0) await app.idle();
  }
  await app.idle();
}

const isCount = ({ __typename }: Message): boolean => __typename.includes('Count');

async function listed({ list, listOf }: Subscribed): Promise<View> {
  const { nodes, counts } = listOf(await ask<never>(app, list, {}, { sub: READER }));
  return {
    entries: new Map(nodes.map((node) => [node.id, JSON.stringify(node)])),
    counts: JSON.stringify(counts),
  };
}

/** What a client shows that has these messages. */
function shown(messages: readonly Message[]): View {
  const entries = new Map<string, string>();
  let last = '';
  for (const message of messages) {
    const { entry, gone, counts, unseen, unread } = message;
    if (entry !== undefined) entries.set(entry.id, JSON.stringify(entry));
    if (gone !== undefined) entries.delete(gone);
    if (isCount(message)) last = JSON.stringify(counts ?? { unseen, unread });
  }
  return { entries, counts: last };
}

/** A client that watches after a cursor, with all that has come. */
class Watcher implements Disposable {
  readonly messages: Message[] = [];
  readonly #end: () => void;
  #failure: unknown = null;

  constructor(client: Client, { events }: Subscribed, after: string) {
    this.#end = client.subscribe<{ events: Message }>(
      { query: events, variables: { after } },
      {
        next: ({ data, errors }) => {
          if (data == null) this.#failure = errors;
          else this.messages.push(data.events);
        },
        error: (reason) => {
          this.#failure = reason;
        },
        complete: () => undefined,
      },
    );
  }

  async until(isEnough: (messages: readonly Message[]) => boolean): Promise<readonly Message[]> {
    await expect
      .poll(() => ({ failure: this.#failure, isEnough: isEnough(this.messages), messages: this.messages }), {
        timeout: PATIENCE_MS,
        interval: 5,
      })
      .toMatchObject({ failure: null, isEnough: true });
    return this.messages;
  }

  [Symbol.dispose](): void {
    this.#end();
  }
}

const placeOf = ({ cursor }: Message): LogPosition => {
  const position = decodeLiveCursor(TAG, cursor);
  if (position === null) throw new Error(`No cursor: ${cursor}`);
  return position;
};

/** Negative: the first one lies before the other. */
const compare = (a: Message, b: Message): number => {
  const [one, other] = [placeOf(a), placeOf(b)];
  return one.sequence - other.sequence || (one.parts ?? 0) - (other.parts ?? 0);
};

/** Places only go forward, and each message but a count has one of its own. */
function expectForward(messages: readonly Message[]): void {
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1];
    if (before === undefined) continue;
    const isLater = isCount(message) ? compare(message, before) >= 0 : compare(message, before) > 0;
    if (!isLater) throw new Error(`${JSON.stringify(message)} comes after ${JSON.stringify(before)}`);
  }
}

const keysIn = (messages: readonly Message[]): Set<string> =>
  new Set(messages.flatMap(({ entry, gone }) => gone ?? entry?.id ?? []));

const isIn = (messages: readonly Message[], last: string, { counts }: View): boolean =>
  keysIn(messages).has(last) && shown(messages).counts === counts;

/** Cuts after each of these messages, and resumes. */
async function expectWhole(
  client: Client,
  subscribed: Subscribed,
  messages: readonly Message[],
  { before, end, last }: { readonly before: View; readonly end: View; readonly last: string },
): Promise<void> {
  expectForward(messages);
  const resume = async ({ cursor }: Message, index: number): Promise<void> => {
    const had = messages.slice(0, index + 1);
    using watcher = new Watcher(client, subscribed, cursor);
    const resumed = await watcher.until(
      (more) => isIn([...had, ...more], last, end) && shown(more).counts === end.counts,
    );
    expectForward(resumed);
    expect(resumed[0]).toMatchObject({ cursor });
    expect(resumed.filter(({ __typename }) => __typename.endsWith('Resync'))).toEqual([]);
    expect([...keysIn(resumed)].sort()).toEqual([...keysIn(messages.slice(index + 1))].sort());
    const view = shown([...had, ...resumed]);
    const entries = new Map([...before.entries, ...view.entries]);
    for (const id of keysIn([...had, ...resumed])) if (!view.entries.has(id)) entries.delete(id);
    expect(Object.fromEntries(entries)).toEqual(Object.fromEntries(end.entries));
  };
  for (let from = 0; from < messages.length; from += AT_ONCE)
    await Promise.all(
      messages.slice(from, from + AT_ONCE).map((message, index) => resume(message, from + index)),
    );
}

async function openWorld(): Promise<World & { readonly start: string }> {
  await upsert(app, {
    members: [READER, ...OTHERS].map((memberId) => ({ memberId, name: memberId })),
    pairs: OTHERS.map((refId) => ({ followerId: READER, refId })),
  });
  const own = [
    await publish(app, { actorId: READER, scope: 'PUBLIC' }),
    await publish(app, { actorId: READER, scope: 'PUBLIC' }),
  ];
  const actions: string[] = [];
  for (const actorId of OTHERS) actions.push(await publish(app, { actorId, scope: 'PUBLIC' }));
  await app.idle();
  const { feed } = await ask<{ feed: { liveCursor: string } }>(
    app,
    '{ feed(first: 1) { liveCursor } }',
    {},
    { sub: READER },
  );
  return { random: seededRandom(SEED), own, actions, start: feed.liveCursor };
}

test.each(Object.entries(SUBSCRIPTIONS))(
  '%s: a client that is cut after any message and resumes gets each later one, and shows the list',
  async (_name, subscribed) => {
    const client = createClient({
      ...{ url: app.wsUrl, webSocketImpl: WebSocket, retryAttempts: 0 },
      connectionParams: { authorization: `Bearer ${await app.token(READER)}` },
    });
    try {
      const { start, ...world } = await openWorld();
      const before = await listed(subscribed);
      using live = new Watcher(client, subscribed, start);
      await live.until((messages) => messages.length > 0);
      await happen(world);
      const known = await listed(subscribed);
      await publish(app, { actorId: 'dan', scope: 'PUBLIC', mentions: [READER] });
      await app.idle();
      const end = await listed(subscribed);
      const last = [...end.entries.keys()].find((id) => !known.entries.has(id)) ?? '';
      const received = await live.until((messages) => isIn(messages, last, end));
      await expectWhole(client, subscribed, received.slice(), { before, end, last });
      // All that waits for a client is decided together.
      using later = new Watcher(client, subscribed, start);
      const together = await later.until((messages) => isIn(messages, last, end));
      await expectWhole(client, subscribed, together.slice(), { before, end, last });
    } finally {
      await client.dispose();
    }
  },
);
