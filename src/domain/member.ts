import type { RefId, UserId, ActionId } from './action.ts';

/** A person, as described by the host application. */
export interface Member {
  readonly userId: UserId;
  readonly name: string;
  readonly teamId: string | null;
  /** When the member joined the team; actions recorded before are not addressed to them through the team. */
  readonly teamSince: Date | null;
  readonly departmentId: string | null;
  readonly departmentSince: Date | null;
  readonly supervisorId: UserId | null;
}

export type RefName = Pick<Ref, 'refId' | 'type' | 'label'>;

/** A thing, as last described by the host application. */
export interface Ref {
  readonly refId: RefId;
  /** Type and label are `null` while the ref is known only because somebody follows it. */
  readonly type: string | null;
  readonly label: string | null;
  readonly followerCount: number;
  /** Absent while the ref has no label. */
  readonly rename?: RenameProgress;
}

/** Progress of copying a changed label to the actions that contain it. */
export interface RenameProgress {
  /** Incremented by every change of the label. */
  readonly version: number;
  /** Newest version that all copies have. */
  readonly propagated: number;
  /** Why the last attempt failed; `null` once it succeeded. */
  readonly error: string | null;
}

/** Application data about a person or thing beside its name. A field is `null` when the application gave no value. */
export interface Details {
  readonly imageUrl: string | null;
  readonly url: string | null;
  /** Any JSON value. */
  readonly data: unknown;
}

/** How to write to a member. A field is `null` when the application gave no value. */
export interface Contact {
  readonly email: string | null;
  /** A language tag, such as `de-AT`. */
  readonly locale: string | null;
  readonly timeZone: string | null;
}

export interface MemberDetails extends Details {
  readonly userId: UserId;
}

export interface RefDetails extends Details {
  readonly refId: RefId;
  /** Actions pinned to the top of its page, visible or not, latest pin first. */
  readonly pinned: readonly ActionId[];
}
