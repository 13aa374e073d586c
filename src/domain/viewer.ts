import type { ActionId, RefId, UserId } from './action.ts';
import type { FollowSpan } from './follow-span.ts';
import type { Member } from './member.ts';
import { NO_BLOCKS, type Blocks } from './block.ts';
import { NO_MUTES, type ReaderMutes } from './mute.ts';
import type { FeedPosition } from './newsfeed-item.ts';
import { plainId } from './stored-id.ts';

export const ROLES = ['user', 'service', 'moderator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Role of tokens only: each request names where to act, and there the token's other roles apply. */
export const OPERATOR = 'operator';

export interface Identity {
  readonly userId: UserId;
  readonly roles: ReadonlySet<Role>;
  /** Expiry of the token; subscriptions end at this time. `null`: never. */
  readonly expiresAt: Date | null;
}

/** Roles that moderate: they see what admins see, hide and show again, and handle reports. */
export const MODERATORS = ['admin', 'moderator'] as const satisfies readonly Role[];

export function moderates({ roles }: Identity): boolean {
  return MODERATORS.some((role) => roles.has(role));
}

/** Whether blocks keep others from them: not programs of the host, moderators and administrators. */
export function isAffectedByBlocks(identity: Identity): boolean {
  return !isTrusted(identity) && !moderates(identity);
}

/** Whether shares of single users do not apply: programs of the host, and its administrators. */
export function isTrusted({ roles }: Identity): boolean {
  return roles.has('service') || roles.has('admin');
}

/** Upper bound on what one reader wants less of. */
export const MAX_SHOWS_LESS = 100;
/** Upper bound on lists of one reader. */
export const MAX_LISTS = 100;
/** Upper bound on what one list contains. */
export const MAX_LIST_ENTRIES = 1_000;

/** That a reader wants less of what is like an action. */
export interface ShowsLess {
  readonly actionId: ActionId;
  readonly until: Date;
}

/** A list that a reader has made of what they follow. What brings them items says in which lists it is. */
export interface ReaderList {
  readonly id: string;
  readonly name: string;
  /** Its items leave the feed, unless they mention or name the reader. */
  readonly isExclusive: boolean;
}

/** Facts about a reader that the rules need, except the follows of a single action's refs. */
export interface ReaderProfile {
  readonly userId: UserId;
  /** When the profile was loaded. All of a response uses mutes and marks as of this time. */
  readonly asOf: Date;
  /** Sees everything: admins and moderators. */
  readonly isAdmin: boolean;
  readonly member: Member | null;
  /** Mutes that were active when the profile was loaded. */
  readonly mutes: ReaderMutes;
  /** Blocks between the reader and others, when the profile was loaded. */
  readonly blocks: Blocks;
  /** Everything up to this time counts as read; `null`: nothing. */
  readonly lastRead: Date | null;
  /** The same of views with a read mark of their own. Absent: nothing. */
  readonly viewsRead: Readonly<Record<string, Date>>;
  /** Lists that the reader has made, the oldest first. */
  readonly lists: readonly ReaderList[];
  /** What the reader wants less of, the latest first: actions like these. Possibly until a time that is over. */
  readonly showsLess: readonly ShowsLess[];
  /** The reader has marked single items; their marks must be loaded. */
  readonly hasMarks: boolean;
  readonly hasUnreadMarks: boolean;
  /** The reader has given items a state that ends. */
  readonly hasEnds: boolean;
  /** Loaded on first use; no query when the reader has no such items. */
  readonly returned: () => Promise<Returned>;
  /**
   * Entries delivered for a follow must be checked against the follow: the reader once unfollowed with history, or what is followed
   * decides in which list an item is.
   */
  readonly checksFollows: boolean;
  /** The reader is or was assigned to refs: boosts must take these follows into account. */
  readonly hasAssigned: boolean;
  /** A rebuild of the stored feed is in progress. */
  readonly isRebuilding: boolean;
  /** The stored feed is complete above this position; `null`: complete to the end. */
  readonly floor: FeedPosition | null;
  /** When a rebuild last completed the stored feed down to the floor; `null`: never. */
  readonly rebuiltAt: Date | null;
  /** Follows of refs whose actions may not have been pushed. */
  readonly pulledFollows: readonly Follow[];
  /** Approximate time of the last read; `null`: never. */
  readonly activeAt: Date | null;
}

/** Items that are back in the feed since their state ended, and when: the least relevancy they have now. Latest first. */
export type Returned = ReadonlyMap<ActionId, Date>;

export const NOTHING_RETURNED: Returned = new Map();

/** Profile used for deliveries: a member's blocks and marks on single items do not keep anything out of their feed. */
export function profileOfMember(member: Member): ReaderProfile {
  return {
    userId: member.userId,
    isAdmin: false,
    member,
    mutes: NO_MUTES,
    blocks: NO_BLOCKS,
    lastRead: null,
    viewsRead: {},
    lists: [],
    showsLess: [],
    hasMarks: false,
    asOf: new Date(0),
    hasEnds: false,
    returned: () => Promise.resolve(NOTHING_RETURNED),
    hasUnreadMarks: false,
    checksFollows: false,
    hasAssigned: false,
    isRebuilding: false,
    floor: null,
    rebuiltAt: null,
    pulledFollows: [],
    activeAt: null,
  };
}

/** Profile of a user the host application never described. */
export function profileOfStranger(userId: UserId): ReaderProfile {
  return profileOfMember({
    userId,
    name: plainId(userId),
    teamId: null,
    teamSince: null,
    departmentId: null,
    departmentSince: null,
    supervisorId: null,
  });
}

export interface Follow {
  readonly refId: RefId;
  readonly active: boolean;
  readonly spans: readonly FollowSpan[];
  /** While active, interactions with the ref's actions concern the reader. */
  readonly isAssigned?: true;
  /** Ids of the reader's lists that it is in, while active; possibly of lists that there are no longer. Absent: in none. */
  readonly lists?: readonly string[];
}
