import type { ActionId, UserId } from './action.ts';

/** What a host offers a reader in one of its views: actions with their scores, highest first. */
export type Offer = ReadonlyMap<ActionId, number>;

/** The host's answers. */
export interface Offers {
  /**
   * What a reader is offered in a view. Resolves within the time limit of its source, also if the host is slow, fails or lies.
   * @param view name of a view with a source
   * @returns `null`: there is no answer that makes sense
   */
  of(view: string, userId: UserId): Promise<Offer | null>;
}

/** Most actions of an answer. */
export const MAX_OFFERED = 500;

export const NO_OFFERS: Offers = { of: () => Promise.resolve(null) };
