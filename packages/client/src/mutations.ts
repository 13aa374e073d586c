import type { Request } from './request.ts';
import type { FeedMutations } from './mutation-types.ts';

export const ACTION_STATE = `id isHidden commentsVersion
    engagement { comments likes reshares lastInteraction reactions { reaction count } }
    viewer { hasLiked hasCommented hasReshared isBookmarked reactions canDelete canEdit }`;
export const INTERACTION = `id kind at editedAt text reaction parentId state actor { memberId name }`;
const UNREAD = `unreadCount { count isExact }`;
const FOLLOWED = `refId isFollowed followerCount`;
const CHANGED = `isReplay interaction { ${INTERACTION} } action { ${ACTION_STATE} }`;

/** Of each mutation: the types of its arguments, and what is asked of its answer; nothing of a boolean. */
const SHAPES = {
  publishAction: [{ input: 'PublishActionInput!' }, `isReplay action { id }`],
  deleteAction: [{ id: 'ID!' }, `id`],
  addInteraction: [{ input: 'RecordInteractionInput!' }, CHANGED],
  removeInteraction: [{ input: 'RemoveInteractionInput!' }, CHANGED],
  updateInteraction: [{ id: 'ID!', text: 'String!' }, INTERACTION],
  bookmark: [{ actionId: 'ID!' }, ACTION_STATE],
  unbookmark: [{ actionId: 'ID!' }, ACTION_STATE],
  follow: [{ refId: 'String!', copyLimit: 'Int' }, FOLLOWED],
  unfollow: [{ refId: 'String!', keepHistory: 'Boolean' }, FOLLOWED],
  hideFeedItem: [{ actionId: 'ID!' }, `actionId`],
  unhideFeedItem: [{ actionId: 'ID!' }, `actionId`],
  archiveFeedItem: [{ actionId: 'ID!' }, `actionId`],
  unarchiveFeedItem: [{ actionId: 'ID!' }, `actionId`],
  snoozeFeedItem: [{ actionId: 'ID!', until: 'DateTime!' }, `actionId`],
  unsnoozeFeedItem: [{ actionId: 'ID!' }, `actionId`],
  markFeedRead: [{ upTo: 'DateTime!' }, UNREAD],
  markItemsRead: [{ actionIds: '[ID!]!' }, UNREAD],
  markItemsUnread: [{ actionIds: '[ID!]!' }, UNREAD],
  addMute: [{ target: 'MuteTargetInput!', until: 'DateTime' }, UNREAD],
  removeMute: [{ target: 'MuteTargetInput!' }, UNREAD],
  markNotificationsSeen: [{ upTo: 'DateTime!' }, `memberId`],
  markNotificationsRead: [{ upTo: 'DateTime', ids: '[ID!]' }, `memberId`],
  setNotificationPreferences: [
    { preferences: '[NotificationPreferenceInput!]!' },
    `notificationPreferences { kind type channel isOn isLocked }`,
  ],
  setQuietHours: [
    { from: 'String', to: 'String', timeZone: 'String', days: '[Int!]' },
    `quietHours { from to timeZone days }`,
  ],
  registerPush: [{ endpoint: 'String!', p256dh: 'String!', auth: 'String!' }, ``],
  unregisterPush: [{ endpoint: 'String!' }, ``],
  blockMember: [{ memberId: 'String!' }, `memberId`],
  unblockMember: [{ memberId: 'String!' }, `memberId`],
  report: [
    { actionId: 'ID', interactionId: 'ID', memberId: 'String', reason: 'String!', text: 'String' },
    `id state`,
  ],
} as const satisfies Record<keyof FeedMutations, readonly [Record<string, string>, string]>;

export const MUTATION_NAMES = Object.keys(SHAPES) as readonly (keyof FeedMutations)[];

/** @param given what is left out of a call keeps the default of the server */
export function mutationOf(name: keyof FeedMutations, given?: object): string {
  const [types, fields] = SHAPES[name];
  const selection = fields === '' ? '' : ` { ${fields} }`;
  const used = Object.entries<string>(types).filter(
    ([argument]) => given === undefined || (given as Record<string, unknown>)[argument] !== undefined,
  );
  const list = (write: (argument: string, type: string) => string): string =>
    used.length === 0 ? '' : `(${used.map(([argument, type]) => write(argument, type)).join(', ')})`;
  const declared = list((argument, type) => `$${argument}: ${type}`);
  const passed = list((argument) => `${argument}: $${argument}`);
  return `mutation ${name}${declared} { ${name}${passed}${selection} }`;
}

/** The mutation with and without each argument that may be left out. */
export function mutationsOf(name: keyof FeedMutations): readonly string[] {
  const types = Object.entries<string>(SHAPES[name][0]);
  const needed = types.filter(([, type]) => type.endsWith('!'));
  const optional = types.filter(([, type]) => !type.endsWith('!'));
  const given = optional.reduce<(typeof types)[]>(
    (lists, argument) => [...lists, ...lists.map((list) => [...list, argument])],
    [needed],
  );
  return given.map((list) => mutationOf(name, Object.fromEntries(list)));
}

export function createMutations(request: Request): FeedMutations {
  const mutations: Partial<Record<keyof FeedMutations, unknown>> = {};
  for (const name of MUTATION_NAMES)
    mutations[name] = async (variables: Readonly<Record<string, unknown>>) =>
      (await request<Record<string, unknown>>(mutationOf(name, variables), variables))[name];
  // The table has each of them, with the selection that its type says.
  return mutations as FeedMutations;
}
