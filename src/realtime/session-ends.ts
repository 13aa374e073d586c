import type { UserId } from '../domain/action.ts';

/**
 * Ends what a member has open – sockets with their subscriptions, event streams – in every process. It ends what is
 * there now: a token that is still good opens a new session.
 */
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
