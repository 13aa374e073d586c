import type { ObjectId } from 'mongodb';

/** A new name that is still to be carried to the copies of the old one. */
export interface RenameDocument {
  /** Not to be claimed before: the time of the change, the end of a lease, or of a pause after a failure. */
  due: Date;
  attempts: number;
  /** Which claim works on it. */
  worker?: string;
  error?: string;
}

/** What every document has that gives something its name. */
export interface NamedDocument {
  _id: string;
  /** Raised by every change of the name. */
  version?: number;
  /** The version that has reached all copies. */
  propagated?: number;
  /** Present while the version has not reached all copies. */
  rename?: RenameDocument;
}

/** What the host application says of a member or a ref beside its name. Absent where it says nothing. */
export interface DetailsDocument {
  imageUrl?: string;
  url?: string;
  data?: unknown;
}

export interface MemberDocument extends NamedDocument, DetailsDocument {
  name: string;
  teamId: string | null;
  teamSince: Date | null;
  departmentId: string | null;
  departmentSince: Date | null;
  supervisorId: string | null;
}

export interface RefDocument extends NamedDocument, DetailsDocument {
  /** Absent while the ref is only known from being followed. */
  type?: string;
  label?: string;
  version: number;
  followerCount: number;
  /** Which count from scratch `followerCount` goes back to; absent: none. See `follower-counts.ts`. */
  countEpoch?: string;
  /** Present while the followers are being counted from scratch. */
  isCounting?: true;
  /** Actions that stand on top of its page, the latest pin first. Absent where none ever was. */
  pinned?: ObjectId[];
  /** Some actions of it may not have been pushed to its followers. Stays. */
  isPulled?: boolean;
  /** Its actions are not pushed from then on. Absent when they are. */
  pullSince?: Date;
}
