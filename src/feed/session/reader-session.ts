import type { Action, ActionId } from '../../domain/action.ts';
import type { Identity, ReaderProfile } from '../../domain/viewer.ts';
import type { KnownReader } from '../feed-store.ts';
import type { DirectoryAsOf } from '../../storage/stamps/directory-stamps.ts';
import type { Load } from './load.ts';
import type { Reading } from '../../lib/reading.ts';

/**
 * A reader during one request or one live event. Loads what was asked for in one turn of the event loop as one batch of at
 * most 500 ids, and keeps the results: longer use would serve stale data.
 */
export interface ReaderSession {
  readonly identity: Identity;
  /** That of the operation. */
  readonly reading: Reading;
  /** Loads a value by id; `null`: there is none. */
  load<V>(what: Load<V>, id: string): Promise<V | null>;
  /** The same for several ids, in their order. */
  loadMany<V>(what: Load<V>, ids: readonly string[]): Promise<(V | null)[]>;
  /** The action with an id. @param rev at which an entry was read with it; absent: not known */
  loadAt(id: ActionId, rev: number | undefined): Promise<Action | null>;
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
}

export interface EventReaderSession extends ReaderSession {
  /** Like `profile`, but from a read that begins after the call. */
  freshProfile(): Promise<ReaderProfile>;
}
