import type { ObjectId } from 'mongodb';
import type { LeaseDocument } from './lease-document.ts';

declare module './declaration.ts' {
  interface Documents {
    readonly members: MemberDocument;
    readonly refs: RefDocument;
  }
}

/** Fields shared by documents that define a name. */
export interface NamedDocument {
  _id: string;
  /** Incremented by every change of the name. */
  version?: number;
  /** Version that all copies have. */
  propagated?: number;
  /** Present until all copies have the version. */
  rename?: LeaseDocument;
  /** Absent: the name cannot be searched. */
  search?: SearchDocument;
}

/** See `name-search.ts`. */
export interface SearchDocument {
  terms: string[];
  /** The name as it is sorted. */
  order: string;
}

/** Application data of a member or ref beside its name. Absent fields have no value. */
export interface DetailsDocument {
  imageUrl?: string;
  url?: string;
  data?: unknown;
}

/** How to write to a member: never served. Absent fields are not known. */
export interface ContactDocument {
  email?: string;
  /** A language tag, such as `de-AT`. */
  locale?: string;
  timeZone?: string;
}

export interface MemberDocument extends NamedDocument, DetailsDocument {
  /** Absent: nothing is known. */
  contact?: ContactDocument;
  name: string;
  teamId: string | null;
  teamSince: Date | null;
  departmentId: string | null;
  departmentSince: Date | null;
  supervisorId: string | null;
}

export interface RefDocument extends NamedDocument, DetailsDocument {
  /** Absent while the ref is known only from being followed. */
  type?: string;
  label?: string;
  version: number;
  followerCount: number;
  /** Identifies the recount that `followerCount` is based on; absent: none. See `follower-counts.ts`. */
  countEpoch?: string;
  /** Present while followers are being recounted. */
  isCounting?: true;
  /** Actions pinned to the top of its page, latest pin first. Absent if there never was one. */
  pinned?: ObjectId[];
  /** Some of its actions may not have been pushed to followers. Never removed. */
  isPulled?: boolean;
  /** Actions from this time on are not pushed. Absent: all are pushed. */
  pullSince?: Date;
}
