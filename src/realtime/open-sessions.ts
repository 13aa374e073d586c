import type { UserId } from '../domain/action.ts';
import { OnDispose } from '../lib/on-dispose.ts';
import { clock } from '../lib/clock.ts';

interface OpenSession {
  /** Milliseconds since the epoch. */
  readonly openedAt: number;
  readonly end: () => void;
}

/** Sessions of one process by member. Lists instead of sets, since nearly everybody has one. */
export class OpenSessions {
  readonly #byMember = new Map<UserId, readonly OpenSession[]>();

  add(userId: UserId, end: () => void): Disposable {
    const session = { openedAt: clock.time(), end };
    this.#byMember.set(userId, [...(this.#byMember.get(userId) ?? []), session]);
    return new OnDispose(() => {
      this.#remove(userId, session);
    });
  }

  end(userId: UserId): void {
    const sessions = this.#byMember.get(userId) ?? [];
    this.#byMember.delete(userId);
    for (const { end } of sessions) end();
  }

  /** All members with a session, and when their first open session was opened. */
  openedAt(): Map<UserId, Date> {
    return new Map(
      [...this.#byMember].map(([userId, sessions]) => [
        userId,
        new Date(Math.min(...sessions.map(({ openedAt }) => openedAt))),
      ]),
    );
  }

  clear(): void {
    this.#byMember.clear();
  }

  #remove(userId: UserId, session: OpenSession): void {
    const others = this.#byMember.get(userId)?.filter((other) => other !== session) ?? [];
    if (others.length === 0) this.#byMember.delete(userId);
    else this.#byMember.set(userId, others);
  }
}
