import type { ActionId, RefId, UserId } from './action.ts';
import type { FollowSpan } from './follow-span.ts';
import type { Member } from './member.ts';
import { NO_MUTES, type ReaderMutes } from './mute.ts';
import type { FeedPosition } from './newsfeed-item.ts';
import { plainId } from './tenant.ts';

export const ROLES = ['user', 'service', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** A role of tokens alone: names in each request the tenant to act in, there with the other roles of the token. */
export const OPERATOR = 'operator';

export interface Identity {
  readonly userId: UserId;
  readonly roles: ReadonlySet<Role>;
  /** When the token ends; subscriptions end with it. Null: it does not. */
  readonly expiresAt: Date | null;
}

/** What the rules need to know of a reader, besides what a single action asks for (follows of its refs). */
export interface ReaderProfile {
  readonly userId: UserId;
  /** When it was looked up. All of a response goes by what had ended at that time. */
  readonly asOf: Date;
  readonly isAdmin: boolean;
  readonly member: Member | null;
  /** What the reader muted when the profile was loaded, without what had ended by then. */
  readonly mutes: ReaderMutes;
  /** Everything up to here has been read; null: nothing yet. */
  readonly lastRead: Date | null;
  /** Has said something of single items, which is then to be looked up. */
  readonly hasMarks: boolean;
  readonly hasUnreadMarks: boolean;
  readonly hasSnoozes: boolean;
  /** See `EndedSnoozes`; loaded when first asked for, and nothing is asked where there are no snoozes. */
  readonly endedSnoozes: () => Promise<EndedSnoozes>;
  /** May have hidden items in the collection of before. */
  readonly hasHiddenItems: boolean;
  /** Has taken a follow back with its history: entries delivered for a follow are then to be checked against it. */
  readonly checksFollows: boolean;
  /** Follows something as assigned, or once did: these follows are then to be looked up for what is lifted. */
  readonly hasAssigned: boolean;
  /** The stored feed is being brought in line with a change that concerns much of it. */
  readonly isRebuilding: boolean;
  /** The stored feed is complete above this position; null: all the way down. */
  readonly floor: FeedPosition | null;
  /** When a rebuild last made the stored feed complete down to the floor; null: never had to. */
  readonly rebuiltAt: Date | null;
  /** The reader's follows of refs whose actions may not have been pushed. */
  readonly pulledFollows: readonly Follow[];
  /** When the reader last read, roughly; null: never yet. */
  readonly activeAt: Date | null;
}

/** Until when items were snoozed that are back in the feed: they stand no lower than that. The latest first. */
export type EndedSnoozes = ReadonlyMap<ActionId, Date>;

export const NO_SNOOZES: EndedSnoozes = new Map();

/** What the delivery of an action needs to know of a member: marks of their own do not keep anything from their feed. */
export function profileOfMember(member: Member): ReaderProfile {
  return {
    userId: member.userId,
    isAdmin: false,
    member,
    mutes: NO_MUTES,
    lastRead: null,
    hasMarks: false,
    asOf: new Date(0),
    hasSnoozes: false,
    endedSnoozes: () => Promise.resolve(NO_SNOOZES),
    hasUnreadMarks: false,
    hasHiddenItems: false,
    checksFollows: false,
    hasAssigned: false,
    isRebuilding: false,
    floor: null,
    rebuiltAt: null,
    pulledFollows: [],
    activeAt: null,
  };
}

/** The same for somebody whom the host application never described. */
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
  /** While it is active, what is done with actions of the ref concerns the reader. */
  readonly isAssigned?: true;
}
