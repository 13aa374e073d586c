import type { UserId } from '../domain/action.ts';

interface OpenSession {
  readonly openedAt: Date;
  readonly end: () => void;
}

/** The sessions of one process by member. */
export class OpenSessions {
  readonly #byMember = new Map<UserId, Set<OpenSession>>();

  add(userId: UserId, end: () => void): Disposable {
    const session = { openedAt: new Date(), end };
    const sessions = this.#byMember.get(userId);
    if (sessions === undefined) this.#byMember.set(userId, new Set([session]));
    else sessions.add(session);
    return {
      [Symbol.dispose]: () => {
        this.#remove(userId, session);
      },
    };
  }

  /** Ends all sessions of a member. */
  end(userId: UserId): void {
    const sessions = this.#byMember.get(userId);
    this.#byMember.delete(userId);
    for (const { end } of sessions ?? []) end();
  }

  /** Every member with a session, and when the first of those that are open was opened. */
  openedAt(): Map<UserId, Date> {
    return new Map(
      [...this.#byMember].map(([userId, sessions]) => [
        userId,
        new Date(Math.min(...[...sessions].map((session) => session.openedAt.getTime()))),
      ]),
    );
  }

  clear(): void {
    this.#byMember.clear();
  }

  #remove(userId: UserId, session: OpenSession): void {
    const sessions = this.#byMember.get(userId);
    sessions?.delete(session);
    if (sessions?.size === 0) this.#byMember.delete(userId);
  }
}
