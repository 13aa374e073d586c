import { createClient, type Client } from 'graphql-ws';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import {
  decodeLiveCursor,
  readerTag,
  sliceLog,
  threadLog,
  type LogPosition,
} from '../../src/live/live-log.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, publish, rawId, upsert } from '../support/feed-api.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { repeats, SEED } from '../support/seed.ts';
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';

const READER = 'ann';
const OTHERS = ['bea', 'cid', 'dan'];
const ADMIN = { sub: 'root', roles: ['admin'] } as const;
/** All actions have it. */
const SITE = { id: 'site', type: 'site', label: 'Site' };
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
  /** What a count says, or the action of a thread. */
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
  /** The log whose cursors it has. */
  readonly log: (world: World) => string;
  readonly events: string;
  readonly list: string;
  readonly listOf: (data: never) => { readonly nodes: readonly { id: string }[]; readonly counts: unknown };
}

const ITEM = 'id relevancy reasons isUnread action { isHidden engagement { comments likes reshares } }';
const ENGAGEMENT = 'version engagement { comments likes reshares reactions { reaction count } }';
const ACTION = `id isHidden ${ENGAGEMENT}`;
const INTERACTION = 'id kind text reaction editedAt actor { memberId }';
const NOTIFICATION = 'id kind at isSeen isRead count { count isExact } actors { memberId }';

const SUBSCRIPTIONS: Readonly<Record<string, Subscribed>> = {
  feedEvents: {
    log: () => READER,
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
    log: () => READER,
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
  sliceEvents: {
    log: () => sliceLog(SITE.id),
    events: `subscription ($after: String) { events: sliceEvents(refId: "site", after: $after) { __typename
      ... on SliceReady { cursor } ... on SliceResync { cursor }
      ... on ActionAdded { cursor entry: action { ${ACTION} } }
      ... on ActionUpdated { cursor entry: action { ${ACTION} } }
      ... on ActionRemoved { cursor gone: actionId } } }`,
    list: `{ slice(refId: "site", first: 100) { edges { node { ${ACTION} } } } }`,
    listOf: ({ slice }: { slice: { edges: { node: { id: string } }[] } }) => ({
      nodes: slice.edges.map(({ node }) => node),
      counts: undefined,
    }),
  },
  actionEvents: {
    log: ({ talk }) => threadLog(rawId(talk)),
    events: `subscription ($talk: ID!, $after: String) { events: actionEvents(actionId: $talk, after: $after) { __typename
      ... on ActionReady { cursor } ... on ActionResync { cursor } ... on ActionGone { cursor }
      ... on ActionChanged { cursor counts: action { ${ENGAGEMENT} } }
      ... on InteractionAdded { cursor entry: interaction { ${INTERACTION} } }
      ... on InteractionUpdated { cursor entry: interaction { ${INTERACTION} } }
      ... on InteractionRemoved { cursor gone: interactionId } } }`,
    list: `query ($talk: ID!) { action(id: $talk) { ${ENGAGEMENT} interactions(first: 100) { edges { node { ${INTERACTION} } } } } }`,
    listOf({
      action: { interactions, ...counts },
    }: {
      action: { interactions: { edges: { node: { id: string } }[] } };
    }) {
      return { nodes: interactions.edges.map(({ node }) => node), counts };
    },
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
  /** An action that is in no feed of the reader, and is talked about. */
  readonly talk: string;
  /** What was said there. */
  readonly said: string[];
}

async function interact(sub: string, input: object): Promise<string> {
  const { addInteraction } = await ask<{ addInteraction: { interaction: { id: string } } }>(
    app,
    'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { interaction { id } } }',
    { input },
    { sub },
  );
  return addInteraction.interaction.id;
}

const onSaid = (mutation: string, id: string, more = ''): Promise<unknown> =>
  ask(app, `mutation ($id: ID!) { ${mutation}Interaction(id: $id${more}) { id } }`, { id }, ADMIN);

/** Each does what one message or several say. */
const HAPPENINGS: readonly ((world: World) => Promise<unknown>)[] = [
  // Several messages at once, each about another notification.
  async ({ actions, random }) => {
    const inputs = [1, 2, 3].map(() => ({
      actorId: random.pick(OTHERS),
      scope: 'PUBLIC',
      mentions: [READER],
      refs: [SITE],
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
        { kind: 'REACTION', reaction: '❤️' },
        { kind: 'COMMENT', text: 'So' },
        { kind: 'COMMENT', text: 'So?', mentions: [READER] },
      ]),
    }),
  ({ actions, random }) =>
    interact(random.pick(OTHERS), { actionId: random.pick(actions), kind: 'COMMENT', text: 'Oh' }),
  // One message about all kinds of notifications.
  ({ own, random }) => change(random.pick(['hide', 'unhide']), random.pick(own)),
  async ({ talk, said, random }) => {
    said.push(await interact(random.pick(OTHERS), { actionId: talk, kind: 'COMMENT', text: 'Yes' }));
  },
  ({ talk, random }) => interact(random.pick(OTHERS), { actionId: talk, kind: 'LIKE' }),
  ({ talk, random }) =>
    interact(random.pick(OTHERS), {
      ...{ actionId: talk, kind: 'REACTION', reaction: random.pick(['👍', '🎉']) },
    }),
  // Several interactions by one call.
  ({ talk, random }) =>
    ask(
      app,
      'mutation ($input: RemoveInteractionInput!) { removeInteraction(input: $input) { isReplay } }',
      { input: { own: { actionId: talk, kind: random.pick(['COMMENT', 'LIKE', 'REACTION']) } } },
      { sub: random.pick(OTHERS) },
    ),
  ({ said, random }) => onSaid(random.pick(['hide', 'unhide']), random.pick(said)),
  ({ said, random }) => onSaid('update', random.pick(said), ', text: "No"'),
  ({ talk, actions, random }) =>
    ask(
      app,
      `mutation ($id: ID!) { updateAction(id: $id, input: {
        descriptor: { custom: { verb: "posted", objectType: "post", objectId: "post-2" } } }) { id } }`,
      { id: random.pick([talk, ...actions]) },
    ),
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
  for (let step = 0; step < repeats(8); step += 1) {
    await random.pick(HAPPENINGS)(world).catch(ifHidden);
    if (random.below(2) === 0) await app.idle();
  }
  await app.idle();
}

const isCount = ({ __typename }: Message): boolean =>
  __typename.includes('Count') || __typename === 'ActionChanged';

async function listed({ list, listOf }: Subscribed, { talk }: World): Promise<View> {
  const variables = list.includes('$talk') ? { talk } : {};
  const { nodes, counts } = listOf(await ask<never>(app, list, variables, { sub: READER }));
  return {
    entries: new Map(nodes.map((node) => [node.id, JSON.stringify(node)])),
    counts: counts === undefined ? '' : JSON.stringify(counts),
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

  constructor(client: Client, { events }: Subscribed, { talk }: World, after: string | null) {
    const variables = events.includes('$talk') ? { talk, after } : { after };
    this.#end = client.subscribe<{ events: Message }>(
      { query: events, variables },
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

const placeOf = ({ cursor }: Message, tag: string): LogPosition => {
  const position = decodeLiveCursor(tag, cursor);
  if (position === null) throw new Error(`No cursor: ${cursor}`);
  return position;
};

/** Negative: the first one lies before the other. */
const compare = (a: Message, b: Message, tag: string): number => {
  const [one, other] = [placeOf(a, tag), placeOf(b, tag)];
  return one.sequence - other.sequence || (one.parts ?? 0) - (other.parts ?? 0);
};

/** Places only go forward, and each message but a count has one of its own. */
function expectForward(messages: readonly Message[], tag: string): void {
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1];
    if (before === undefined) continue;
    const isLater = isCount(message) ? compare(message, before, tag) >= 0 : compare(message, before, tag) > 0;
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
  {
    world,
    before,
    end,
    last,
  }: { readonly world: World; readonly before: View; readonly end: View; readonly last: string },
): Promise<void> {
  const tag = readerTag(subscribed.log(world));
  expectForward(messages, tag);
  const resume = async ({ cursor }: Message, index: number): Promise<void> => {
    const had = messages.slice(0, index + 1);
    using watcher = new Watcher(client, subscribed, world, cursor);
    const resumed = await watcher.until(
      (more) => more.length > 0 && isIn([...had, ...more], last, end) && shown(more).counts === end.counts,
    );
    expectForward(resumed, tag);
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

async function openWorld(): Promise<World> {
  await upsert(app, {
    members: [READER, ...OTHERS].map((memberId) => ({ memberId, name: memberId })),
    pairs: OTHERS.map((refId) => ({ followerId: READER, refId })),
  });
  const about = { scope: 'PUBLIC', refs: [SITE] };
  const own = [
    await publish(app, { actorId: READER, ...about }),
    await publish(app, { actorId: READER, ...about }),
  ];
  const actions: string[] = [];
  for (const actorId of OTHERS) actions.push(await publish(app, { actorId, ...about }));
  const talk = await publish(app, { actorId: 'eve', scope: 'PUBLIC' });
  const said = [await interact('bea', { actionId: talk, kind: 'COMMENT', text: 'So' })];
  await app.idle();
  return { random: seededRandom(SEED), own, actions, talk, said };
}

/** Where a watcher is who begins now. */
async function begin(client: Client, subscribed: Subscribed, world: World): Promise<string> {
  using watcher = new Watcher(client, subscribed, world, null);
  const [ready] = await watcher.until((messages) => messages.length > 0);
  return ready?.cursor ?? '';
}

test.each(Object.entries(SUBSCRIPTIONS))(
  '%s: a client that is cut after any message and resumes gets each later one, and shows the list',
  async (_name, subscribed) => {
    const client = createClient({
      ...{ url: app.wsUrl, webSocketImpl: WebSocket, retryAttempts: 0 },
      connectionParams: { authorization: `Bearer ${await app.token(READER)}` },
    });
    try {
      const world = await openWorld();
      const start = await begin(client, subscribed, world);
      const before = await listed(subscribed, world);
      using live = new Watcher(client, subscribed, world, start);
      await live.until((messages) => messages.length > 0);
      await happen(world);
      const known = await listed(subscribed, world);
      await publish(app, { actorId: 'dan', scope: 'PUBLIC', mentions: [READER], refs: [SITE] });
      await interact('dan', { actionId: world.talk, kind: 'COMMENT', text: 'Last' });
      await app.idle();
      const end = await listed(subscribed, world);
      const last = [...end.entries.keys()].find((id) => !known.entries.has(id)) ?? '';
      const received = await live.until((messages) => isIn(messages, last, end));
      await expectWhole(client, subscribed, received.slice(), { world, before, end, last });
      // All that waits for a client is decided together.
      using later = new Watcher(client, subscribed, world, start);
      const together = await later.until((messages) => isIn(messages, last, end));
      await expectWhole(client, subscribed, together.slice(), { world, before, end, last });
    } finally {
      await client.dispose();
    }
  },
);
