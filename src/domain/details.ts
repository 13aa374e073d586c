import type { ActionId, RefId, UserId } from './action.ts';

/** What the host application says of a person or a thing beside its name. Null where it says nothing. */
export interface Details {
  readonly imageUrl: string | null;
  readonly url: string | null;
  /** Free JSON. */
  readonly data: unknown;
}

export interface MemberDetails extends Details {
  readonly userId: UserId;
}

export interface RefDetails extends Details {
  readonly refId: RefId;
  /** What is pinned on top of its page, visible or not; the latest first. */
  readonly pinned: readonly ActionId[];
}
