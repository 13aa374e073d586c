import { startTestApp, type TestApp } from './app.ts';
import { ask, upsert } from './feed-api.ts';

/** One reader with so much of everything. */
export interface MuchOfEverything extends AsyncDisposable {
  readonly app: TestApp;
  /** Global ids of things of a type that the reader may see, different ones. */
  readonly ids: Readonly<Record<string, readonly string[]>>;
}

const READER = 'reader';
const CALLS_AT_ONCE = 10;
/** As many as a reader may have, and as a call may put into one. */
const MOST_LISTS = 100;
const PUT_AT_ONCE = 100;

/** Calls for each number below `count`, a few at a time. Gives the results in order. */
async function each<T>(count: number, call: (n: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let from = 0; from < count; from += CALLS_AT_ONCE) {
    const some = Array.from({ length: Math.min(CALLS_AT_ONCE, count - from) }, (_, n) => call(from + n));
    results.push(...(await Promise.all(some)));
  }
  return results;
}

/**
 * The reader follows `count` things, each with an action, and has published as many; a few members have commented on one of these
 * `count` times; the reader has lists, the last of them of all these things, has bookmarked, hidden, muted, reported and liked so many, and is mentioned and followed as often.
 */
export async function openMuchOfEverything(
  count: number,
  env: Readonly<Record<string, string>> = {},
): Promise<MuchOfEverything> {
  // Without a worker, whose commands would be among those of operations.
  const app = await startTestApp({ monitorCommands: true, worker: false, env });
  const reader = { sub: READER, roles: ['user'] } as const;
  const numbers = Array.from({ length: count }, (_, n) => String(n));
  await upsert(app, {
    members: [READER, ...numbers.map((n) => `member-${n}`)].map((id) => ({ memberId: id, name: id })),
    refs: numbers.map((n) => ({ id: `thing-${n}`, type: 'thing', label: `Thing ${n}` })),
    pairs: [
      ...numbers.map((n) => ({ followerId: READER, refId: `thing-${n}` })),
      ...numbers.map((n) => ({ followerId: `member-${n}`, refId: READER })),
    ],
  });
  const custom = (objectId: string): object => ({ verb: 'posted', objectType: 'post', objectId });
  const publishAll = async (inputOf: (n: number) => object): Promise<string[]> => {
    const { publishActions } = await ask<{ publishActions: { action: { id: string } }[] }>(
      app,
      'mutation ($inputs: [PublishActionInput!]!) { publishActions(inputs: $inputs) { action { id } } }',
      { inputs: numbers.map((_, n) => ({ scope: 'PUBLIC', ...inputOf(n) })) },
    );
    return publishActions.map(({ action }) => action.id);
  };
  const actions = await publishAll((n) => ({
    actorId: `member-${String(n)}`,
    refs: [
      { id: `thing-${String(n)}`, type: 'thing', label: `Thing ${String(n)}` },
      { id: `never-described-${String(n)}`, type: 'x', label: 'X' },
    ],
    descriptor: { custom: custom(`post-${String(n)}`) },
  }));
  const own = await publishAll((n) => ({
    actorId: READER,
    descriptor: { custom: custom(`own-${String(n)}`) },
  }));
  const [hot = ''] = own;
  const interact = (input: object): Promise<{ addInteraction: { interaction: { id: string } } }> =>
    ask(
      app,
      'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { interaction { id } } }',
      { input },
    );
  const commenter = (n: number): string => `member-${String(n % 5)}`;
  const comments = await each(count, (n) =>
    interact({ actionId: hot, actorId: commenter(n), kind: 'COMMENT', text: `Comment ${String(n)}` }),
  );
  await each(count, (n) => interact({ actionId: own[n], actorId: commenter(n), kind: 'LIKE' }));
  const interactions = comments.map(({ addInteraction }) => addInteraction.interaction.id);
  const text = 'x'.repeat(2_000);
  const reports = await each(count, (n) =>
    ask<{ report: { id: string } }>(
      app,
      'mutation ($id: ID!, $text: String!) { report(interactionId: $id, reason: "Spam", text: $text) { id } }',
      { id: interactions[n], text },
      reader,
    ),
  );
  await each(count, (n) =>
    ask(app, 'mutation ($id: ID!) { bookmark(actionId: $id) { id } }', { id: actions[n] }, reader),
  );
  const lists = await each(Math.min(count, MOST_LISTS), (n) =>
    ask<{ createList: { id: string } }>(
      app,
      'mutation ($name: String!) { createList(name: $name, isExclusive: false) { id } }',
      { name: `List ${String(n)}` },
      reader,
    ),
  );
  for (const { createList } of lists.slice(-1))
    for (let from = 0; from < count; from += PUT_AT_ONCE)
      await ask(
        app,
        'mutation ($id: ID!, $refIds: [String!]!) { addToList(id: $id, refIds: $refIds) { id } }',
        { id: createList.id, refIds: numbers.slice(from, from + PUT_AT_ONCE).map((n) => `thing-${n}`) },
        reader,
      );
  await using worker = await startTestApp({ api: false, database: app.database, env });
  await worker.idle();
  const items = await ask<{
    feed: { edges: { node: { id: string; groupId: string } }[] };
    notifications: { edges: { node: { id: string } }[] };
    comments: { edges: { node: { id: string } }[] };
  }>(
    app,
    '{ feed(first: 100) { edges { node { id groupId } } } notifications(first: 100) { edges { node { id } } } comments: notifications(first: 1, filter: { kinds: [COMMENT] }) { edges { node { id } } } }',
    {},
    reader,
  );
  const feed = items.feed.edges.map(({ node }) => node);
  const encode = (type: string, id: string): string => Buffer.from(`${type}:${id}`).toString('base64');
  return {
    app,
    ids: {
      Action: actions,
      Interaction: interactions,
      Report: reports.map(({ report }) => report.id),
      // The one with the most events is the last.
      Notification: [...items.notifications.edges, ...items.comments.edges].map(({ node }) => node.id),
      NewsfeedItem: feed.map(({ id }) => id),
      // The one with the most entries is the last.
      ReaderList: lists.map(({ createList }) => createList.id),
      FeedGroup: [...new Set(feed.map(({ groupId }) => groupId))],
      Member: numbers.map((n) => encode('Member', `member-${n}`)),
      Ref: numbers.map((n) => encode('Ref', `never-described-${n}`)),
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}
