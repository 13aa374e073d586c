import type { Action, ActionId, RefId, UserId } from '../../domain/action.ts';
import type { ItemMark } from '../../domain/newsfeed-item.ts';
import type { MemberDetails, RefDetails, Member, Ref, RefName } from '../../domain/member.ts';
import type { OwnInteractions } from '../../domain/interaction.ts';
import type { InteractionPage } from './interaction-pages.ts';
import type { KnownReader } from '../feed-store.ts';
import type { Follow, Identity, ReaderProfile } from '../../domain/viewer.ts';

/** Loads by key: batches the keys of one turn of the event loop and caches results for its lifetime. */
export interface Loader<K, V> {
  load(key: K): Promise<V>;
  loadMany(keys: readonly K[]): Promise<(V | Error)[]>;
}

/** Versions of names as of one time. */
export interface DirectoryAsOf {
  readonly stamp: number;
  /** Changes whenever the name of this id changes. */
  stampOf(id: string): number;
}

/** A reader during one request or one live event. */
export interface ReaderSession {
  readonly identity: Identity;
  /** Loaded on first use. */
  profile(): Promise<ReaderProfile>;
  /** Provides reader data that was read since the session was opened; ignored if already loaded or loading. */
  know(known: KnownReader): void;
  /** Directory stamp when the reader was looked up; `null`: not requested. */
  readonly directoryStamp: number | null;
  /** The directory as of that stamp, or later; `null`: not available. */
  directory(): Promise<DirectoryAsOf | null>;
  /** The cached action at a revision that was read since the session was opened; `null`: not cached. */
  cached(actionId: ActionId, rev: number): Action | null;
  readonly actions: Loader<ActionId, Action | null>;
  readonly members: Loader<UserId, Member | null>;
  readonly refs: Loader<RefId, Ref | null>;
  /** Names and types of refs, possibly cached by the process. */
  readonly refNames: Loader<RefId, RefName | null>;
  readonly memberDetails: Loader<UserId, MemberDetails | null>;
  readonly refDetails: Loader<RefId, RefDetails | null>;
  /** The reader's own follow of a ref. */
  readonly follows: Loader<RefId, Follow | null>;
  /** The reader's visible interactions with an action; `null`: none. */
  readonly own: Loader<ActionId, OwnInteractions | null>;
  /** Pages of interactions, keyed by `interactionPageName`. */
  readonly interactionPages: Loader<string, InteractionPage | null>;
  /** The reader's mark on their item of an action. */
  readonly marks: Loader<ActionId, ItemMark | null>;
  /** The action's id if the reader has bookmarked it, else `null`. */
  readonly bookmarks: Loader<ActionId, ActionId | null>;
}

/** A reader during one live event. */
export interface EventReaderSession extends ReaderSession {
  /** Like `profile`, but from a read that begins after the call. */
  freshProfile(): Promise<ReaderProfile>;
  /** Announces ids whose names may be needed: the first request loads them all, in one query per kind. */
  expectNames(ids: readonly string[]): void;
}
