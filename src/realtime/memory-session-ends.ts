import type { UserId } from '../domain/action.ts';
import { OpenSessions } from './open-sessions.ts';
import type { SessionEnds } from './session-ends.ts';

export class MemorySessionEnds implements SessionEnds {
  readonly #open = new OpenSessions();

  endSessions(userId: UserId): Promise<void> {
    this.#open.end(userId);
    return Promise.resolve();
  }

  onEnd(userId: UserId, callback: () => void): Disposable {
    return this.#open.add(userId, callback);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#open.clear();
    return Promise.resolve();
  }
}
