import { expect } from 'vitest';
import type { Role } from '../../src/domain/viewer.ts';
import { encodeFeedGroupId } from '../../src/graphql/global-id.ts';
import type { GraphqlAnswer, TestApp } from './app.ts';
import { ask, publish, upsert } from './feed-api.ts';
import {
  COMMENT_TEXT,
  CONDUCTED,
  groupKeyAbout,
  itemIdOf,
  postedAbout,
  actionOnly,
  READS,
  said,
  WAYS,
  type Read,
  type Target,
  type Write,
} from './privacy-ways.ts';
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
  'follower of who passes it on': ['user'],
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
  /** Who is mentioned in an action passes it on; gives the id of the reshare. */
  passOn(actionId: string): Promise<string>;
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
      { followerId: id('follower of who passes it on'), refId: id('mentioned') },
      { followerId: id(kept), refId: id('actor') },
      { followerId: id(takenBack), refId: id('actor') },
    ],
  });
  const mutation = 'mutation ($memberId: String!) { addMute(target: { memberId: $memberId }) { memberId } }';
  await ask(app, mutation, { memberId: id('actor') }, as(muter));
  const unfollow = async (viewer: Viewer, keepHistory: boolean): Promise<void> => {
    await ask(
      app,
      'mutation ($refId: String!, $keepHistory: Boolean!) { unfollow(refId: $refId, keepHistory: $keepHistory) { refId } }',
      { refId: id('actor'), keepHistory },
      as(viewer),
    );
  };
  const add = async (viewer: Viewer, input: object): Promise<string> => {
    const { addInteraction } = await ask<{ addInteraction: { interaction: { id: string } } }>(
      app,
      'mutation ($input: RecordInteractionInput!) { addInteraction(input: $input) { interaction { id } } }',
      { input },
      as(viewer),
    );
    return addInteraction.interaction.id;
  };
  return {
    ...{ app, scope, id, as },
    async publish(name) {
      await upsert(app, { refs: [{ id: id(name), type: 'thing', label: `About ${name}` }] });
      const actionId = await publish(app, {
        ...{ actorId: id('actor'), scope, conducted: CONDUCTED, descriptor: postedAbout(id(name)) },
        refs: ['site', name].map((ref) => ({ id: id(ref), type: 'thing', label: `About ${ref}` })),
        mentions: [id('mentioned'), id(muter)],
        ...(scope === 'RESTRICTED' ? { recipients: [id('recipient')] } : {}),
      });
      const pin =
        'mutation ($refId: String!, $id: ID!) { pinAction(refId: $refId, actionId: $id) { refId } }';
      await ask(app, pin, { refId: id(name), id: actionId }, as('admin'));
      return actionId;
    },
    comment: (actionId) => add('actor', { actionId, kind: 'COMMENT', text: COMMENT_TEXT }),
    passOn: (actionId) => add('mentioned', { actionId, kind: 'RESHARE' }),
    async part() {
      await unfollow(kept, true);
      await unfollow(takenBack, false);
    },
  };
}

/** Ids of what is not there, of the same form as those of what is. */
const NO_ACTION = Buffer.from('Action:0123456789abcdef01234567').toString('base64');
const NO_COMMENT = Buffer.from('Interaction:0123456789abcdef01234567').toString('base64');
export const NO_REF = 'nothing';

/** Publishes, comments and passes on. */
export async function publishTarget(world: PrivacyWorld, name: string): Promise<Target> {
  const actionId = await world.publish(name);
  const commentId = await world.comment(actionId);
  await world.passOn(actionId);
  const refId = world.id(name);
  return { actionId, refId, commentId, groupKey: groupKeyAbout(refId) };
}

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

const NOTHING: Target = {
  ...{ actionId: NO_ACTION, refId: NO_REF, commentId: NO_COMMENT, groupKey: groupKeyAbout(NO_REF) },
};

/** The answer without the ids that were asked for: those the viewer has told us. */
function unnamed(answer: GraphqlAnswer<unknown>, viewerId: string, target: Target): unknown {
  const { actionId, refId, commentId, groupKey } = target;
  const groupId = encodeFeedGroupId(viewerId, groupKey);
  const asked = [actionId, itemIdOf(viewerId, actionId), groupId, refId, commentId];
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
