import type { UserId } from '../domain/action.ts';
import type { LiveWatcher } from './live-watcher.ts';

export class WatcherSet {
  readonly #byReader = new Map<UserId, readonly LiveWatcher[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get readers(): UserId[] {
    return [...this.#byReader.keys()];
  }

  all(): LiveWatcher[] {
    return [...this.#byReader.values()].flat();
  }

  /** A snapshot, since a watcher may end during the iteration. */
  of(userId: UserId): readonly LiveWatcher[] {
    return this.#byReader.get(userId) ?? [];
  }

  add(watcher: LiveWatcher): void {
    this.#byReader.set(watcher.userId, [...this.of(watcher.userId), watcher]);
    this.#size += 1;
  }

  delete(watcher: LiveWatcher): boolean {
    const all = this.of(watcher.userId);
    const others = all.filter((other) => other !== watcher);
    if (others.length === all.length) return false;
    if (others.length === 0) this.#byReader.delete(watcher.userId);
    else this.#byReader.set(watcher.userId, others);
    this.#size -= 1;
    return true;
  }
}
