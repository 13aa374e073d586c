import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { Role } from '../../src/domain/viewer.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { uniqueName } from '../support/unique-name.ts';
import { PATIENCE_MS } from '../support/patience.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => app[Symbol.asyncDispose]());

interface Event {
  readonly type: string;
  readonly cursor: string;
  readonly action?: { readonly id: string; readonly engagement: { readonly comments: number } };
  readonly interaction?: { readonly id: string; readonly text: string | null };
  readonly actionId?: string;
  readonly interactionId?: string;
  readonly reason?: string;
}

const SLICE = `subscription ($refId: String!, $filter: ActionFilter, $after: String) {
  events: sliceEvents(refId: $refId, filter: $filter, after: $after) { type: __typename
    ... on SliceReady { cursor } ... on SliceResync { cursor reason }
    ... on ActionAdded { cursor action { id engagement { comments } } }
    ... on ActionUpdated { cursor action { id engagement { comments } } }
    ... on ActionRemoved { cursor actionId } } }`;
const THREAD = `subscription ($actionId: ID!, $after: String) {
  events: actionEvents(actionId: $actionId, after: $after) { type: __typename
    ... on ActionReady { cursor } ... on ActionResync { cursor reason } ... on ActionGone { cursor actionId }
    ... on ActionChanged { cursor action { id engagement { comments } } }
    ... on InteractionAdded { cursor interaction { id text } }
    ... on InteractionUpdated { cursor interaction { id text } }
    ... on InteractionRemoved { cursor interactionId } } }`;

interface Viewer {
  readonly sub: string;
  readonly roles?: readonly Role[];
}

/** A subscription over a socket, with all that has come. */
class Watch implements AsyncDisposable {
  readonly events: Event[] = [];
  readonly #client: ReturnType<typeof createClient>;
  #failure: unknown = null;

  constructor(token: string, query: string, variables: Record<string, unknown>) {
    this.#client = createClient({
      ...{ url: app.wsUrl, webSocketImpl: WebSocket, retryAttempts: 0 },
      connectionParams: { authorization: `Bearer ${token}` },
    });
    this.#client.subscribe<{ events: Event }>(
      { query, variables },
      {
        next: ({ data, errors }) => {
          if (data == null) this.#failure = errors;
          else this.events.push(data.events);
        },
        error: (reason) => {
          this.#failure = reason;
        },
        complete: () => undefined,
      },
    );
  }

  /** Its events, when there are so many. */
  async until(count: number): Promise<readonly string[]> {
    await expect
      .poll(() => ({ failure: this.#failure, isEnough: this.said.length >= count, said: this.said }), {
        timeout: PATIENCE_MS,
        interval: 5,
      })
      .toMatchObject({ failure: null, isEnough: true });
    return this.said;
  }

  async refusal(): Promise<unknown> {
    await expect.poll(() => this.#failure, { timeout: PATIENCE_MS, interval: 5 }).not.toBeNull();
    return this.#failure;
  }

  /** What they are about. */
  get said(): string[] {
    return this.events.map(
      ({ type, action, interaction, actionId, interactionId, reason }) =>
        `${type} ${action?.id ?? interaction?.id ?? actionId ?? interactionId ?? reason ?? ''}`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.dispose();
  }
}

async function watch(
  { sub, roles = [] }: Viewer,
  query: string,
  variables: Record<string, unknown>,
): Promise<Watch> {
  return new Watch(await app.token(sub, roles), query, variables);
}

async function watching(viewer: Viewer, query: string, variables: Record<string, unknown>): Promise<Watch> {
  const opened = await watch(viewer, query, variables);
  await opened.until(1);
  return opened;
}

const admin = { sub: 'root', roles: ['admin'] as const };
const onAction = (verb: string, id: string): Promise<unknown> =>
  ask(app, `mutation ($id: ID!) { ${verb}Action(id: $id) { id } }`, { id }, admin);
const update = (id: string, input: object): Promise<unknown> =>
  ask(
    app,
    'mutation ($id: ID!, $input: UpdateActionInput!) { updateAction(id: $id, input: $input) { id } }',
    { id, input },
  );

async function say(sub: string, actionId: string, text: string): Promise<string> {
  const { addInteraction } = await ask<{ addInteraction: { interaction: { id: string } } }>(
    app,
    'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { interaction { id } } }',
    { input: { actionId, kind: 'COMMENT', text } },
    { sub },
  );
  return addInteraction.interaction.id;
}

/** A thing, with somebody who follows it and somebody who does not. */
async function settle() {
  const tag = uniqueName('');
  const id = (name: string): string => `${name}${tag}`;
  const refs = [{ id: id('site'), type: 'site', label: 'Site' }];
  await upsert(app, {
    refs,
    members: ['actor', 'follower', 'stranger'].map((name) => ({ memberId: id(name), name })),
    pairs: [{ followerId: id('follower'), refId: id('site') }],
  });
  const post = (input: object = {}): Promise<string> =>
    publish(app, { actorId: id('actor'), scope: 'PUBLIC', refs, ...input });
  return { id, post, slice: { refId: id('site') } };
}

test('a slice is what its page shows: each watcher has what they may see, as it comes, changes and goes', async () => {
  const { id, post, slice } = await settle();
  await using stranger = await watching({ sub: id('stranger') }, SLICE, slice);
  await using follower = await watching({ sub: id('follower') }, SLICE, slice);
  await using moderator = await watching(admin, SLICE, slice);
  const forAll = await post();
  await app.idle();
  const forSome = await post({ scope: 'FOLLOWERS' });
  await app.idle();
  await say(id('follower'), forAll, 'So');
  await app.idle();
  await onAction('hide', forSome);
  await app.idle();
  await update(forAll, { scope: 'FOLLOWERS' });
  await app.idle();
  await update(forAll, { refs: [] });
  await app.idle();
  const last = await post();
  expect(await stranger.until(6)).toEqual([
    'SliceReady ',
    `ActionAdded ${forAll}`,
    `ActionUpdated ${forAll}`,
    `ActionRemoved ${forAll}`,
    // Moved away by an edit: it is not known who has seen it before.
    `ActionRemoved ${forAll}`,
    `ActionAdded ${last}`,
  ]);
  expect(await follower.until(8)).toEqual([
    'SliceReady ',
    `ActionAdded ${forAll}`,
    `ActionAdded ${forSome}`,
    `ActionUpdated ${forAll}`,
    `ActionRemoved ${forSome}`,
    `ActionUpdated ${forAll}`,
    `ActionRemoved ${forAll}`,
    `ActionAdded ${last}`,
  ]);
  expect((await moderator.until(8))[4]).toBe(`ActionUpdated ${forSome}`);
  expect(follower.events[3]?.action?.engagement.comments).toBe(1);
});

test('a filter of a slice lets through what its page has, and removes what an edit takes out', async () => {
  const { id, post, slice } = await settle();
  const custom = (objectId: string) => ({
    descriptor: { custom: { verb: 'posted', objectType: 'post', objectId, tags: [objectId] } },
  });
  await using watcher = await watching({ sub: id('stranger') }, SLICE, {
    ...slice,
    filter: { tags: ['yes'] },
  });
  await post(custom('no'));
  const wanted = await post(custom('yes'));
  await app.idle();
  await update(wanted, custom('no'));
  await app.idle();
  const last = await post(custom('yes'));
  expect(await watcher.until(4)).toEqual([
    'SliceReady ',
    `ActionAdded ${wanted}`,
    `ActionRemoved ${wanted}`,
    `ActionAdded ${last}`,
  ]);
});

test("a thread of an action that is in nobody's feed moves", async () => {
  const { id, post } = await settle();
  const actionId = await post({ refs: [] });
  await app.idle();
  await using watcher = await watching({ sub: id('stranger') }, THREAD, { actionId });
  const notCounts = () => watcher.said.filter((one) => !one.startsWith('ActionChanged'));
  // One after the other: what is sent of each is decided when it is sent.
  const sees = (...lines: readonly string[]) =>
    expect.poll(notCounts, { timeout: PATIENCE_MS, interval: 5 }).toEqual(['ActionReady ', ...lines]);
  const first = await say(id('stranger'), actionId, 'One');
  const lines = [`InteractionAdded ${first}`];
  await sees(...lines);
  const second = await say(id('stranger'), actionId, 'Two');
  lines.push(`InteractionAdded ${second}`);
  await sees(...lines);
  await ask(
    app,
    'mutation ($id: ID!) { updateInteraction(id: $id, text: "2") { id } }',
    { id: second },
    admin,
  );
  lines.push(`InteractionUpdated ${second}`);
  await sees(...lines);
  await ask(app, 'mutation ($id: ID!) { hideInteraction(id: $id) { id } }', { id: first }, admin);
  lines.push(`InteractionRemoved ${first}`);
  await sees(...lines);
  const own = { own: { actionId, kind: 'COMMENT' } };
  await ask(
    app,
    'mutation ($input: RemoveInteractionInput!) { removeInteraction(input: $input) { isReplay } }',
    { input: own },
    { sub: id('stranger') },
  );
  // Both of a call, the hidden one too, in any order.
  const both = [`InteractionRemoved ${first}`, `InteractionRemoved ${second}`];
  await expect
    .poll(() => new Set(notCounts().slice(lines.length + 1)), { timeout: PATIENCE_MS, interval: 5 })
    .toEqual(new Set(both));
  await onAction('hide', actionId);
  await expect
    .poll(() => watcher.said.at(-1), { timeout: PATIENCE_MS, interval: 5 })
    .toBe(`ActionGone ${actionId}`);
});

test('what an erasure leaves of a comment is sent to who watches its thread', async () => {
  const { id, post } = await settle();
  const actionId = await post();
  await using watcher = await watching({ sub: id('stranger') }, THREAD, { actionId });
  const said = await say(id('follower'), actionId, 'My address is 1 Elm Road');
  await expect
    .poll(() => watcher.said, { timeout: PATIENCE_MS, interval: 5 })
    .toContain(`InteractionAdded ${said}`);
  await ask(app, 'mutation ($id: String!) { eraseMember(memberId: $id) }', { id: id('follower') }, admin);
  await expect
    .poll(() => watcher.said, { timeout: PATIENCE_MS, interval: 5 })
    .toContain(`InteractionUpdated ${said}`);
  const left = watcher.events.find(({ type }) => type === 'InteractionUpdated');
  expect(left?.interaction).toMatchObject({ text: null });
});

test('who may not see an action cannot watch it, and cannot tell whether it is there', async () => {
  const { id, post } = await settle();
  const actionId = await post({ scope: 'RESTRICTED', recipients: [id('follower')] });
  const unknown = Buffer.from(`Action:${'0'.repeat(24)}`).toString('base64');
  const answers = await Promise.all(
    [actionId, unknown].map(async (asked) => {
      await using refused = await watch({ sub: id('stranger') }, THREAD, { actionId: asked });
      return await refused.refusal();
    }),
  );
  expect(answers[0]).toEqual(answers[1]);
  expect(answers[0]).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
});

test('who is cut before an action goes is sent so when they resume, and nothing else of it', async () => {
  const { id, post } = await settle();
  const actionId = await post();
  await app.idle();
  await using watcher = await watching({ sub: id('stranger') }, THREAD, { actionId });
  const after = watcher.events[0]?.cursor;
  await say(id('follower'), actionId, 'So');
  await update(actionId, { scope: 'RESTRICTED', recipients: [id('follower')] });
  await app.idle();
  await using resumed = await watching({ sub: id('stranger') }, THREAD, { actionId, after });
  expect(await resumed.until(2)).toEqual(['ActionReady ', `ActionGone ${actionId}`]);
  // Somebody for whom it never was, and who has made up a cursor of it, gets the very same.
  await using other = await watching({ sub: id('nobody') }, THREAD, { actionId, after });
  await other.until(2);
  expect(other.events).toEqual(resumed.events);
});

test('a cursor of one list leads to a resync in another', async () => {
  const { id, post, slice } = await settle();
  const actionId = await post();
  await using watcher = await watching({ sub: id('stranger') }, SLICE, slice);
  const after = watcher.events[0]?.cursor;
  await using thread = await watching({ sub: id('stranger') }, THREAD, { actionId, after });
  expect((await thread.until(2))[1]).toBe('ActionResync invalid-cursor');
  await using other = await watching({ sub: id('stranger') }, SLICE, { refId: id('actor'), after });
  expect((await other.until(2))[1]).toBe('SliceResync invalid-cursor');
});

test('a block ends what is shown of the other side, also to who is watching', async () => {
  const { id, post, slice } = await settle();
  const actionId = await post({ actorId: id('third') });
  await app.idle();
  await using inSlice = await watching({ sub: id('stranger') }, SLICE, slice);
  await using inThread = await watching({ sub: id('stranger') }, THREAD, { actionId });
  const before = await say(id('actor'), actionId, 'So');
  await inThread.until(2);
  await ask(
    app,
    'mutation ($memberId: String!) { blockMember(memberId: $memberId) { memberId } }',
    { memberId: id('actor') },
    { sub: id('stranger') },
  );
  await say(id('actor'), actionId, 'Still here');
  await post();
  await app.idle();
  const after = await say(id('follower'), actionId, 'Last');
  const last = await post({ actorId: id('third') });
  await expect.poll(() => inThread.said, { timeout: PATIENCE_MS }).toContain(`InteractionAdded ${after}`);
  expect(inThread.said.filter((one) => one.startsWith('Interaction'))).toEqual([
    `InteractionAdded ${before}`,
    `InteractionAdded ${after}`,
  ]);
  await expect.poll(() => inSlice.said, { timeout: PATIENCE_MS }).toContain(`ActionAdded ${last}`);
  expect(inSlice.said.filter((one) => one.startsWith('ActionAdded'))).toEqual([`ActionAdded ${last}`]);
});
