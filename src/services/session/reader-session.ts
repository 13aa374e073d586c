import type { Action, ActionId, RefId, UserId } from '../../domain/action.ts';
import type { ItemMark } from '../../domain/item-mark.ts';
import type { MemberDetails, RefDetails } from '../../domain/details.ts';
import type { OwnInteractions } from '../../domain/interaction.ts';
import type { InteractionPage } from './interaction-pages.ts';
import type { Member, Ref, RefName } from '../../domain/member.ts';
import type { KnownReader } from '../../feeds/feed-store.ts';
import type { Follow, Identity, ReaderProfile } from '../../domain/viewer.ts';

/** Loads by key, many keys of one turn of the event loop in one query, and remembers for as long as it lives. */
export interface Loader<K, V> {
  load(key: K): Promise<V>;
  loadMany(keys: readonly K[]): Promise<(V | Error)[]>;
}

/** One read of an action. Who has the same one asked before the read began. */
export interface Sighting {
  readonly action: Action;
}

/** When names were changed, as of one time. */
export interface DirectoryAsOf {
  readonly stamp: number;
  /** Another one after each change of what this id is called. */
  stampOf(id: string): number;
}

/** One reader during one request or one live event. */
export interface ReaderSession {
  readonly identity: Identity;
  /** Loaded when first asked for. */
  profile(): Promise<ReaderProfile>;
  /** Takes what was read of the reader since the session was opened, unless it has been loaded or is being. */
  know(known: KnownReader): void;
  /** What the directory was stamped with when the reader was looked up; null: it was not asked for. */
  readonly directoryStamp: number | null;
  /** The directory as of that stamp, or later; null: nothing is known of it. */
  directory(): Promise<DirectoryAsOf | null>;
  /** The action, where the process has it as of a revision that was read since the session was opened; else null. */
  cached(actionId: ActionId, rev: number): Action | null;
  readonly actions: Loader<ActionId, Action | null>;
  readonly members: Loader<UserId, Member | null>;
  readonly refs: Loader<RefId, Ref | null>;
  /** What refs are and are called: the process may know them already. */
  readonly refNames: Loader<RefId, RefName | null>;
  readonly memberDetails: Loader<UserId, MemberDetails | null>;
  readonly refDetails: Loader<RefId, RefDetails | null>;
  /** The reader's own follow of a ref. */
  readonly follows: Loader<RefId, Follow | null>;
  /** What the reader did with an action; null: nothing that is visible. */
  readonly own: Loader<ActionId, OwnInteractions | null>;
  /** Pages of interactions, by the name that `interactionPageName` gives them. */
  readonly interactionPages: Loader<string, InteractionPage | null>;
  /** What the reader said of their item of an action. */
  readonly marks: Loader<ActionId, ItemMark | null>;
  /** The action's id where the reader has hidden it and that has not been brought over to the marks, else null. */
  readonly hidden: Loader<ActionId, ActionId | null>;
  /** The action's id where the reader has bookmarked it, else null. */
  readonly bookmarks: Loader<ActionId, ActionId | null>;
}

/** One reader during one live event. */
export interface EventReaderSession extends ReaderSession {
  /** What `actions` gives comes from these. */
  readonly sightings: Loader<ActionId, Sighting | null>;
  /** As `profile`, by a read that begins after the call. */
  freshProfile(): Promise<ReaderProfile>;
  /** These may be asked for by name: all of them are, in one query of each kind, with the first. */
  expectNames(ids: readonly string[]): void;
}
