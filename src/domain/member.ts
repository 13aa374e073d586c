import type { RefId, UserId } from './action.ts';

/** A person as the host application describes them. */
export interface Member {
  readonly userId: UserId;
  readonly name: string;
  readonly teamId: string | null;
  /** Since when the member is in the team; actions recorded before are not addressed to them through it. */
  readonly teamSince: Date | null;
  readonly departmentId: string | null;
  readonly departmentSince: Date | null;
  readonly supervisorId: UserId | null;
}

export type RefName = Pick<Ref, 'refId' | 'type' | 'label'>;

/** A thing as the host application last described it. */
export interface Ref {
  readonly refId: RefId;
  /** Type and label are null while the thing is only known from being followed. */
  readonly type: string | null;
  readonly label: string | null;
  readonly followerCount: number;
  /** Absent while it has no label. */
  readonly rename?: RenameProgress;
}

/** How far the label of a ref has been carried to the copies of it. */
export interface RenameProgress {
  /** Raised by every change of the label. */
  readonly version: number;
  /** The version that has reached all copies. */
  readonly propagated: number;
  /** Why an attempt to carry it failed; null once it is carried. */
  readonly error: string | null;
}
