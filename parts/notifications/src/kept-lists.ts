import type { ActionId } from '../../../src/domain/action.ts';
import type { NotificationGroup } from '../../../src/domain/notification.ts';
import type { Context } from '../../../src/feed/context.ts';
import { onceFor } from '../../../src/lib/once-for.ts';
import { Confirmed } from '../../../src/storage/confirmed.ts';
import type { Source, SourcePlace } from './store/notifications.ts';
import type { PairToRead } from './store/pairs.ts';

/** Results of the first read of a list, and of the second one if it was needed. */
export interface Found {
  /** Of the directory. An erasure renews it once no interaction names the member any more. */
  readonly stamp: number;
  readonly groups: readonly NotificationGroup[];
  /** The version of each group, by key: the answer since which it has not changed. */
  readonly madeOf: ReadonlyMap<string, string>;
  /** When its oldest event leaves the window. */
  readonly until: number;
  readonly revisions: Map<ActionId, number>;
  readonly versions: Map<ActionId, number>;
  readonly waiting: Map<string, PairToRead>;
  readonly pairs: Set<string>;
  readonly placed: Set<string>;
  readonly sources: Map<Source, Reading>;
  readonly isOwnedFull: boolean;
  readonly isToFull: boolean;
}

/** A page of a list that is kept, without the actions. */
export interface FoundPage {
  readonly edges: readonly { readonly node: NotificationGroup; readonly cursor: string }[];
  readonly hasMore: boolean;
  readonly end: string | null;
}

/** Upper bound on events in lists that a process keeps, and in pages of them: about 10 MB each. */
const MOST_KEPT = 50_000;

/**
 * Lists of a process by its collections, and their first pages. While the database gives the same answer to the first read, a
 * list is the same: the answer has the version of each action of which more was read, which changes with its interactions.
 */
const kept = onceFor((_collections: object) => ({
  lists: new Confirmed<Found>(MOST_KEPT, ({ groups }) => sizeOf(groups)),
  pages: new Confirmed<FoundPage>(MOST_KEPT, ({ edges }) => sizeOf(edges.map(({ node }) => node))),
}));

export const keptOf = ({ collections }: Context) => kept(collections);

function sizeOf(groups: readonly NotificationGroup[]): number {
  return groups.reduce((sum, { events }) => sum + events.length, 1);
}

/** How far a source was read. */
export interface Reading {
  readonly limit: number;
  readonly place: SourcePlace | null;
  /** No document that was not read yet has a later time; -Infinity: all were read. */
  readonly bound: number;
}
