import type { UserId } from '../domain/action.ts';

/** Ends a member's sockets and event streams in every process. A token that is still valid can open new ones. */
export interface SessionEnds extends AsyncDisposable {
  /**
   * Ends the sessions of this member. Resolves once all reachable processes have been notified; others find out when they
   * can be reached again. Repeatable.
   * @throws LiveLogUnavailable when it is unknown whether any process was notified.
   */
  endSessions(userId: UserId): Promise<void>;
  /** Calls back once when the member's sessions must end, unless disposed before. */
  onEnd(userId: UserId, callback: () => void): Disposable;
}
