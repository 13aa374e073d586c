import type { ActionId, RefId, UserId } from './action.ts';

/** Application data about a person or thing beside its name. A field is `null` when the application gave no value. */
export interface Details {
  readonly imageUrl: string | null;
  readonly url: string | null;
  /** Any JSON value. */
  readonly data: unknown;
}

export interface MemberDetails extends Details {
  readonly userId: UserId;
}

export interface RefDetails extends Details {
  readonly refId: RefId;
  /** Actions pinned to the top of its page, visible or not, latest pin first. */
  readonly pinned: readonly ActionId[];
}
