import { MUTATION_ARGUMENTS } from './generated/mutation-inputs.ts';
import { PERSON } from './documents.ts';
import type { Fields } from './fields.ts';
import type { OneReader } from './one-reader.ts';
import type { Request } from './request.ts';
import type { FeedMutations } from './mutation-types.ts';

const ENGAGEMENT = 'engagement { comments likes reshares lastInteraction reactions { reaction count } }';
const VIEWER = 'viewer { hasLiked hasCommented hasReshared isBookmarked reactions canDelete canEdit }';
export const ACTION_STATE = `id isHidden commentsVersion ${ENGAGEMENT} ${VIEWER}`;
export const INTERACTION = `id kind at editedAt text reaction parentId state actor { ${PERSON} }`;
const UNREAD = `unreadCount { count isExact }`;
const FEED_KEY = `id name createdAt usedAt`;
const LIST = `id name isExclusive`;
const FOLLOWED = `refId isFollowed followerCount`;

/** What is asked of the answer of each mutation; nothing of a boolean. */
const selectionsOf = ({ comment = '' }: Fields): Record<keyof FeedMutations, string> => {
  const interaction = `${INTERACTION} ${comment}`.trim();
  const changed = `isReplay interaction { ${interaction} } action { ${ACTION_STATE} }`;
  return {
    publishAction: `isReplay action { id isHidden }`,
    updateAction: ACTION_STATE,
    deleteAction: `id`,
    addInteraction: changed,
    removeInteraction: changed,
    updateInteraction: interaction,
    bookmark: ACTION_STATE,
    unbookmark: ACTION_STATE,
    follow: FOLLOWED,
    unfollow: FOLLOWED,
    hideFeedItem: `actionId`,
    unhideFeedItem: `actionId`,
    archiveFeedItem: `actionId`,
    unarchiveFeedItem: `actionId`,
    snoozeFeedItem: `actionId`,
    unsnoozeFeedItem: `actionId`,
    markFeedRead: UNREAD,
    markItemsRead: UNREAD,
    markItemsUnread: UNREAD,
    recordImpressions: ``,
    showLess: `memberId`,
    undoShowLess: `memberId`,
    addMute: UNREAD,
    removeMute: UNREAD,
    markNotificationsSeen: `memberId`,
    markNotificationsRead: `memberId`,
    setNotificationPreferences: `notificationPreferences { kind type channel isOn isLocked }`,
    setQuietHours: `quietHours { from to timeZone days }`,
    registerPush: ``,
    unregisterPush: ``,
    resumeMails: `hasAddress offReason`,
    createFeedKey: `url key { ${FEED_KEY} }`,
    revokeFeedKey: `feedKeys { ${FEED_KEY} }`,
    createList: LIST,
    updateList: LIST,
    deleteList: ``,
    addToList: LIST,
    removeFromList: LIST,
    blockMember: `memberId`,
    unblockMember: `memberId`,
    report: `id state`,
  };
};

export const MUTATION_NAMES = Object.keys(MUTATION_ARGUMENTS) as readonly (keyof FeedMutations)[];

/** @param given what is left out of a call keeps the default of the server */
export function mutationOf(name: keyof FeedMutations, given?: object, fields: Fields = {}): string {
  const [types, selected] = [MUTATION_ARGUMENTS[name], selectionsOf(fields)[name]];
  const selection = selected === '' ? '' : ` { ${selected} }`;
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
export function mutationsOf(name: keyof FeedMutations, fields?: Fields): readonly string[] {
  const types = Object.entries<string>(MUTATION_ARGUMENTS[name]);
  const needed = types.filter(([, type]) => type.endsWith('!'));
  const optional = types.filter(([, type]) => !type.endsWith('!'));
  const given = optional.reduce<(typeof types)[]>(
    (lists, argument) => [...lists, ...lists.map((list) => [...list, argument])],
    [needed],
  );
  return given.map((list) => mutationOf(name, Object.fromEntries(list), fields));
}

/** What names the thing that a mutation changes, in its arguments or its input. Of what is new there is none. */
const NAMES = ['target', 'actionId', 'id', 'refId', 'memberId', 'endpoint'] as const;

/** @returns undefined for what can be sent whenever it comes */
function changedBy(name: string, variables: Readonly<Record<string, unknown>>): string | undefined {
  const input = variables['input'] as { readonly own?: object } | undefined;
  const given: Readonly<Record<string, unknown>> = { ...variables, ...input, ...input?.own };
  const found = NAMES.find((one) => given[one] !== undefined);
  // The marks and the settings of a reader are one thing.
  return found === undefined ? /^(?:mark|set)/.exec(name)?.[0] : JSON.stringify(given[found]);
}

/**
 * What changes one thing is sent when the change of it before is answered: requests can overtake each other, and the reader's
 * last choice is what has to be there in the end.
 */
export function createMutations(request: Request, reader: OneReader, fields: Fields): FeedMutations {
  const mutations: Partial<Record<keyof FeedMutations, unknown>> = {};
  for (const name of MUTATION_NAMES)
    mutations[name] = async (variables: Readonly<Record<string, unknown>>) => {
      const send = () => request<Record<string, unknown>>(mutationOf(name, variables, fields), variables);
      const of = changedBy(name, variables);
      return (await (of === undefined ? send() : reader.inTurn(of, send)))[name];
    };
  // The table has each of them, with the selection that its type says.
  return mutations as FeedMutations;
}
