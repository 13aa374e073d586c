import type { UserId } from '../domain/action.ts';

/** Ends the sockets and event streams of a member in every process. A token that is still good opens new ones. */
export interface SessionEnds extends AsyncDisposable {
  /**
   * Ends the sessions of this member. Resolves once all processes that can be reached have been notified; one that cannot
   * finds out for itself when it can be reached again. May be repeated.
   * @throws LiveLogUnavailable when it is not known whether anybody was told.
   */
  endSessions(userId: UserId): Promise<void>;
  /** Calls back when the member's sessions are to end: once, unless disposed before. */
  onEnd(userId: UserId, callback: () => void): Disposable;
}
