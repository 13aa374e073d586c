import { expect } from 'vitest';
import type { Role } from '../../src/domain/viewer.ts';
import type { GraphqlAnswer, TestApp } from './app.ts';
import { ask, publish, upsert } from './feed-api.ts';
import { uniqueName } from './unique-name.ts';

/** Everybody by how they stand to an actor whose actions are about a site. */
export const VIEWERS = {
  actor: ['user'],
  'follower of the site': ['user'],
  'former follower, history kept': ['user'],
  'former follower, history taken back': ['user'],
  'team mate': ['user'],
  'department colleague': ['user'],
  recipient: ['user'],
  mentioned: ['user'],
  'mentioned, but mutes the actor': ['user'],
  stranger: ['user'],
  service: ['user', 'service'],
  admin: ['user', 'admin'],
} as const satisfies Readonly<Record<string, readonly Role[]>>;
export type Viewer = keyof typeof VIEWERS;
export const VIEWER_NAMES = Object.keys(VIEWERS) as readonly Viewer[];

export interface PrivacyWorld {
  readonly app: TestApp;
  readonly scope: string;
  /** The id that a viewer, a ref, a team has in this world. */
  id(name: string): string;
  as(viewer: Viewer): { readonly sub: string; readonly roles: readonly Role[] };
  /** Publishes by the actor, about the site and about a thing of this name, to which it is pinned; conducted long ago. */
  publish(name: string): Promise<string>;
  /** The actor comments on an action. Gives the id of the comment. */
  comment(actionId: string): Promise<string>;
  /** The former followers end their follows of the actor, one keeping what came. */
  part(): Promise<void>;
}

/** Everybody is there and follows what they follow; nothing has been published. */
export async function openPrivacyWorld(app: TestApp, scope: string): Promise<PrivacyWorld> {
  const tag = uniqueName('');
  const id = (name: string): string => `${name.replaceAll(/\W+/g, '-')}${tag}`;
  const as = (viewer: Viewer) => ({ sub: id(viewer), roles: VIEWERS[viewer] });
  const member = (name: string, team: string, department: string) => ({
    ...{ memberId: id(name), name, teamId: id(team), departmentId: id(department) },
  });
  const kept = 'former follower, history kept';
  const takenBack = 'former follower, history taken back';
  const muter = 'mentioned, but mutes the actor';
  await upsert(app, {
    refs: [{ id: NO_REF, type: 'thing', label: 'Nothing is pinned to it' }],
    members: [
      member('actor', 'team', 'department'),
      member('team mate', 'team', 'elsewhere'),
      member('department colleague', 'elsewhere', 'department'),
      member('stranger', 'elsewhere', 'elsewhere'),
    ],
    pairs: [
      { followerId: id('follower of the site'), refId: id('site') },
      { followerId: id(kept), refId: id('actor') },
      { followerId: id(takenBack), refId: id('actor') },
    ],
  });
  const mutation = 'mutation ($memberId: String!) { mute(memberId: $memberId) { memberId } }';
  await ask(app, mutation, { memberId: id('actor') }, as(muter));
  const unfollow = async (viewer: Viewer, keepHistory: boolean): Promise<void> => {
    await ask(
      app,
      'mutation ($refId: String!, $keepHistory: Boolean!) { unfollow(refId: $refId, keepHistory: $keepHistory) { refId } }',
      { refId: id('actor'), keepHistory },
      as(viewer),
    );
  };
  return {
    ...{ app, scope, id, as },
    async publish(name) {
      await upsert(app, { refs: [{ id: id(name), type: 'thing', label: `About ${name}` }] });
      const actionId = await publish(app, {
        ...{ actorId: id('actor'), scope, conducted: '2026-01-01T00:00:00Z' },
        refs: ['site', name].map((ref) => ({ id: id(ref), type: 'thing', label: `About ${ref}` })),
        mentions: [id('mentioned'), id(muter)],
        ...(scope === 'RESTRICTED' ? { recipients: [id('recipient')] } : {}),
      });
      const pin =
        'mutation ($refId: String!, $id: ID!) { pinAction(refId: $refId, actionId: $id) { refId } }';
      await ask(app, pin, { refId: id(name), id: actionId }, as('admin'));
      return actionId;
    },
    async comment(actionId) {
      const document = `mutation ($id: ID!, $text: String!) {
        addInteraction(input: { actionId: $id, kind: COMMENT, text: $text }) { interaction { id } }
      }`;
      const variables = { id: actionId, text: COMMENT_TEXT };
      const added = await ask<{ addInteraction: { interaction: { id: string } } }>(
        app,
        document,
        variables,
        as('actor'),
      );
      return added.addInteraction.interaction.id;
    },
    async part() {
      await unfollow(kept, true);
      await unfollow(takenBack, false);
    },
  };
}

/** Ids of what is not there, of the same form as those of what is. */
const NO_ACTION = Buffer.from('Action:0123456789abcdef01234567').toString('base64');
const NO_COMMENT = Buffer.from('Interaction:0123456789abcdef01234567').toString('base64');
const NO_REF = 'nothing';
/** What the actor says of each action. */
export const COMMENT_TEXT = 'Said among us';

/** What one way in shows of an action: its global id, the id of a ref that only it carries, that of its first comment. */
export interface Target {
  readonly actionId: string;
  readonly refId: string;
  readonly commentId: string;
}

/** Publishes and comments. */
export async function publishTarget(world: PrivacyWorld, name: string): Promise<Target> {
  const actionId = await world.publish(name);
  return { actionId, refId: world.id(name), commentId: await world.comment(actionId) };
}

export function itemIdOf(userId: string, actionId: string): string {
  const key = Buffer.from(actionId, 'base64').toString().slice('Action:'.length);
  return Buffer.from(`NewsfeedItem:${userId}:${key}`).toString('base64');
}

interface Way {
  readonly document: string;
  readonly variables: (target: Target, viewerId: string) => Readonly<Record<string, unknown>>;
  /** What it names of what may be seen; absent: of reads the action and what is said of it, of writes the action. */
  readonly shows?: (target: Target) => readonly string[];
}

const COMMENT = `fragment Said on Interaction {
  id kind text data state at editedAt parentId reaction actor { memberId name } action { id engagement { comments } }
}`;
const ACTION = `fragment Shown on Action {
  id conducted scope isHidden actor { memberId name } refs { refId type label followerCount }
  descriptor { type summary tags } engagement { comments likes reshares lastInteraction } fanOut { state delivered }
  viewer { hasLiked hasReshared hasCommented reactions isBookmarked canDelete canEdit }
  interactions(kinds: [COMMENT], parentId: null, first: 5) { edges { cursor node { ...Said } } }
} ${COMMENT}`;
const ITEM = `fragment Item on NewsfeedItem { id relevancy reasons isUnread action { ...Shown } } ${ACTION}`;
const PAGE = 'pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';
const idOnly = ({ actionId }: Target) => ({ id: actionId });
const commentOnly = ({ commentId }: Target) => ({ id: commentId });
const actionOnly = ({ actionId }: Target) => [actionId];
const both = ({ actionId, commentId }: Target) => [actionId, commentId];
const said = ({ actionId, commentId }: Target) => [actionId, commentId, COMMENT_TEXT];

/** Every way to an action that leaves it as it is. */
export const READS = {
  feed: {
    document: `query ($refId: String!) {
      feed(filter: { refId: $refId }) { edges { cursor node { ...Item } } ${PAGE} state }
    } ${ITEM}`,
    variables: ({ refId }) => ({ refId }),
  },
  'feed by time': {
    document: `query ($refId: String!) {
      feed(filter: { refId: $refId }, order: RECENT) { edges { cursor node { ...Item } } ${PAGE} }
    } ${ITEM}`,
    variables: ({ refId }) => ({ refId }),
  },
  'own item': {
    document: `query ($id: ID!) { node(id: $id) { ...Item } } ${ITEM}`,
    variables: ({ actionId }, viewerId) => ({ id: itemIdOf(viewerId, actionId) }),
  },
  slice: {
    document: `query ($refId: String!) { slice(refId: $refId) { edges { cursor node { ...Shown } } ${PAGE} } } ${ACTION}`,
    variables: ({ refId }) => ({ refId }),
  },
  action: { document: `query ($id: ID!) { action(id: $id) { ...Shown } } ${ACTION}`, variables: idOnly },
  pinned: {
    document: `query ($refId: String!) { ref(refId: $refId) { pinned { ...Shown } } } ${ACTION}`,
    variables: ({ refId }) => ({ refId }),
  },
  node: { document: `query ($id: ID!) { node(id: $id) { ...Shown } } ${ACTION}`, variables: idOnly },
  nodes: { document: `query ($id: ID!) { nodes(ids: [$id]) { ...Shown } } ${ACTION}`, variables: idOnly },
  groups: {
    document: `query ($refId: String!) {
      feedGroups(filter: { refId: $refId }) {
        edges { cursor node { id isUnread count { count } actors { memberId } items { ...Item groupId } } }
        ${PAGE} total { count isExact } unread { count isExact }
      }
    } ${ITEM}`,
    variables: ({ refId }) => ({ refId }),
  },
  why: {
    document: `query ($id: ID!) {
      explainFeedItem(actionId: $id) {
        isInFeed isEntitled addressedBy { reason via since until } withheldBy relevancy
        causes { at kind liftedTo } path score scoreVars
      }
      action(id: $id) { id }
    }`,
    variables: idOnly,
    shows: actionOnly,
  },
  comment: {
    document: `query ($id: ID!) { node(id: $id) { ...Said } nodes(ids: [$id]) { ...Said } } ${COMMENT}`,
    variables: commentOnly,
  },
  replies: {
    document: `query ($id: ID!, $parentId: ID!) {
      action(id: $id) { id interactions(parentId: $parentId) { edges { cursor node { ...Said } } ${PAGE} } }
    } ${COMMENT}`,
    variables: ({ actionId, commentId }) => ({ id: actionId, parentId: commentId }),
    shows: actionOnly,
  },
} as const satisfies Readonly<Record<string, Way>>;

/** Every way to do something to an action. */
export const WRITES = {
  recordInteraction: {
    document: `mutation ($id: ID!) { recordInteraction(input: { actionId: $id, kind: LIKE }) { ...Shown } } ${ACTION}`,
    variables: idOnly,
  },
  hideFeedItem: { document: 'mutation ($id: ID!) { hideFeedItem(actionId: $id) }', variables: idOnly },
  unhideFeedItem: { document: 'mutation ($id: ID!) { unhideFeedItem(actionId: $id) }', variables: idOnly },
  archiveFeedItem: {
    document: 'mutation ($id: ID!) { archiveFeedItem(actionId: $id) { actionId item { id isArchived } } }',
    variables: idOnly,
  },
  unarchiveFeedItem: {
    document: 'mutation ($id: ID!) { unarchiveFeedItem(actionId: $id) { actionId item { id isArchived } } }',
    variables: idOnly,
  },
  snoozeFeedItem: {
    document:
      'mutation ($id: ID!, $until: DateTime!) { snoozeFeedItem(actionId: $id, until: $until) { actionId item { id snoozedUntil } } }',
    variables: ({ actionId }: Target) => ({
      id: actionId,
      until: new Date(Date.now() + 3_600_000).toISOString(),
    }),
  },
  unsnoozeFeedItem: {
    document: 'mutation ($id: ID!) { unsnoozeFeedItem(actionId: $id) { actionId item { id snoozedUntil } } }',
    variables: idOnly,
  },
  bookmark: {
    document: `mutation ($id: ID!) { bookmark(actionId: $id) { ...Shown } } ${ACTION}`,
    variables: idOnly,
  },
  unbookmark: {
    document: `mutation ($id: ID!) { unbookmark(actionId: $id) { ...Shown } } ${ACTION}`,
    variables: idOnly,
  },
  hideAction: { document: 'mutation ($id: ID!) { hideAction(id: $id) { id } }', variables: idOnly },
  unhideAction: { document: 'mutation ($id: ID!) { unhideAction(id: $id) { id } }', variables: idOnly },
  updateAction: {
    document: `mutation ($id: ID!) { updateAction(id: $id, input: { expiresAt: null }) { ...Shown } } ${ACTION}`,
    variables: idOnly,
  },
  addInteraction: {
    document: `mutation ($id: ID!, $parentId: ID!) {
      addInteraction(input: { actionId: $id, kind: COMMENT, text: "A reply", parentId: $parentId }) {
        interaction { ...Said } action { ...Shown }
      }
    } ${ACTION}`,
    variables: ({ actionId, commentId }: Target) => ({ id: actionId, parentId: commentId }),
    shows: both,
  },
  updateInteraction: {
    document: `mutation ($id: ID!) { updateInteraction(id: $id, text: "${COMMENT_TEXT}") { ...Said } } ${COMMENT}`,
    variables: commentOnly,
    shows: said,
  },
  removeInteraction: {
    document: `mutation ($id: ID!) {
      removeInteraction(input: { id: $id }) { interaction { ...Said } action { ...Shown } }
    } ${ACTION}`,
    variables: commentOnly,
    shows: both,
  },
  hideInteraction: {
    document: 'mutation ($id: ID!) { hideInteraction(id: $id) { id action { id } } }',
    variables: commentOnly,
    shows: both,
  },
  unhideInteraction: {
    document: 'mutation ($id: ID!) { unhideInteraction(id: $id) { id action { id } } }',
    variables: commentOnly,
    shows: both,
  },
  retryFanOut: { document: 'mutation ($id: ID!) { retryFanOut(id: $id) { id } }', variables: idOnly },
  deleteAction: { document: 'mutation ($id: ID!) { deleteAction(id: $id) { id } }', variables: idOnly },
} as const satisfies Readonly<Record<string, Way>>;

const WAYS: Readonly<Record<string, Way>> = { ...READS, ...WRITES };
export type Read = keyof typeof READS;
export type Write = keyof typeof WRITES;

/** Those of the reads that show what is in the feed, and nothing else. */
export const FEED_READS: readonly Read[] = ['feed', 'feed by time', 'own item', 'groups'];
export const READ_NAMES = Object.keys(READS) as readonly Read[];
export const WRITE_NAMES = Object.keys(WRITES) as readonly Write[];

/** The whole answer to a viewer who takes a way to an action. */
export async function answerTo(
  { app, id, as }: PrivacyWorld,
  viewer: Viewer,
  way: Read | Write,
  target: Target,
): Promise<GraphqlAnswer<unknown>> {
  const { document, variables } = WAYS[way] ?? {};
  if (document === undefined || variables === undefined) throw new Error(`There is no way ${way}`);
  return app.query(document, variables(target, id(viewer)), as(viewer));
}

const NOTHING: Target = { actionId: NO_ACTION, refId: NO_REF, commentId: NO_COMMENT };

/** The answer without the ids that were asked for: those the viewer has told us. */
function unnamed(answer: GraphqlAnswer<unknown>, viewerId: string, target: Target): unknown {
  const { actionId, refId, commentId } = target;
  const asked = [actionId, itemIdOf(viewerId, actionId), refId, commentId];
  return JSON.parse(asked.reduce((text, id) => text.replaceAll(id, '?'), JSON.stringify(answer)));
}

/** Expects an answer without an error that names what there is to see. */
export async function expectShown(
  world: PrivacyWorld,
  viewer: Viewer,
  way: Read | Write,
  target: Target,
): Promise<void> {
  const answer = await answerTo(world, viewer, way, target);
  expect([viewer, way, answer.errors]).toEqual([viewer, way, []]);
  const shown = JSON.stringify(answer.data);
  const { shows = way in READS ? said : actionOnly } = WAYS[way] ?? {};
  for (const part of shows(target))
    expect([viewer, way, shown]).toEqual([viewer, way, expect.stringContaining(part)]);
}

/** What each viewer is answered who asks an app for what is not there, the same in all its worlds. */
const answersToNothing = new WeakMap<TestApp, Map<string, Promise<unknown>>>();

function answerToNothing(world: PrivacyWorld, viewer: Viewer, way: Read | Write): Promise<unknown> {
  const answers = answersToNothing.get(world.app) ?? new Map<string, Promise<unknown>>();
  answersToNothing.set(world.app, answers);
  const key = `${viewer}: ${way}`;
  const answer =
    answers.get(key) ??
    answerTo(world, viewer, way, NOTHING).then((given) => unnamed(given, world.id(viewer), NOTHING));
  answers.set(key, answer);
  return answer;
}

/** Expects that nothing tells the action from one that is not there. */
export async function expectNothing(
  world: PrivacyWorld,
  viewer: Viewer,
  way: Read | Write,
  target: Target,
): Promise<void> {
  const [answer, toNothing] = await Promise.all([
    answerTo(world, viewer, way, target),
    answerToNothing(world, viewer, way),
  ]);
  expect([viewer, way, unnamed(answer, world.id(viewer), target)]).toEqual([viewer, way, toNothing]);
}

/** How much is unread, which is shown in two places and must be the same. */
export async function unreadOf({ app, as }: PrivacyWorld, viewer: Viewer): Promise<unknown> {
  const answer = await ask<{ viewer: { unreadCount: unknown }; feed: { unread: unknown } }>(
    app,
    '{ viewer { unreadCount { count isExact } } feed(first: 1) { unread { count isExact } } }',
    {},
    as(viewer),
  );
  expect(answer.viewer.unreadCount).toEqual(answer.feed.unread);
  return answer.feed.unread;
}
