import { compareNotifications } from '../../src/domain/notification.ts';
import type { Role } from '../../src/domain/viewer.ts';
import type { Notification } from '../../parts/notifications/src/groups.ts';
import type { NotificationEvent } from '../../parts/notifications/src/watch-notifications.ts';
import type { ReaderSession } from '../../src/feed/session/reader-session.ts';
import { Ending } from '../../src/lib/closer.ts';
import type { Parts } from './parts.ts';

const shownOf = ({ group, isSeen, isRead }: Notification): object => ({
  ...{ key: group.key, at: group.at, isSeen, isRead },
  events: group.events.map(({ id }) => id),
});

/** The list as a fresh read has it. */
export async function listOf(parts: Parts, userId: string, roles: readonly Role[] = []): Promise<object> {
  const page = await parts.services.readNotifications(parts.session(userId, ...roles), {
    first: 100,
    withCounts: true,
  });
  return {
    list: page.edges.map(({ node }) => shownOf(node)),
    counts: { unseen: await page.countUnseen(), unread: await page.countUnread() },
  };
}

/** A client: it has a list, changes it by events, and reads it again after a resync. */
export class Bell implements AsyncDisposable {
  readonly kinds: string[] = [];
  readonly #parts: Parts;
  readonly #userId: string;
  readonly #roles: readonly Role[];
  #ending = new Ending();
  readonly #list = new Map<string, Notification>();
  #counts: object | null = null;
  #cursor: string | null;
  #running: Promise<void> | null = null;

  constructor(parts: Parts, userId: string, cursor: string | null, roles: readonly Role[] = []) {
    this.#parts = parts;
    this.#userId = userId;
    this.#roles = roles;
    this.#cursor = cursor;
  }

  async open(): Promise<this> {
    const events = await this.#parts.services.watchNotifications(this.#session().identity, {
      ...{ after: this.#cursor, withCounts: true, signal: this.#ending },
    });
    this.#running = (async () => {
      for await (const event of events) await this.#take(event);
    })();
    return this;
  }

  /** Reads the list first, as a page does that has just been opened. */
  async load(): Promise<this> {
    const { services } = this.#parts;
    const page = await services.readNotifications(this.#session(), {
      ...{ first: 100, withCounts: true, withLiveCursor: true },
    });
    for (const { node } of page.edges) this.#list.set(node.group.key, node);
    this.#counts = { unseen: await page.countUnseen(), unread: await page.countUnread() };
    this.#cursor = page.liveCursor;
    return this.open();
  }

  /** Loses the connection, and goes on with what it has. */
  async reconnect(): Promise<void> {
    await this[Symbol.asyncDispose]();
    this.#ending = new Ending();
    await this.open();
  }

  #session(): ReaderSession {
    return this.#parts.session(this.#userId, ...this.#roles);
  }

  get cursor(): string | null {
    return this.#cursor;
  }

  get shown(): object {
    const list = [...this.#list.values()].sort((a, b) => compareNotifications(a.group, b.group));
    return { list: list.map(shownOf), counts: this.#counts };
  }

  async #take(event: NotificationEvent): Promise<void> {
    this.#cursor = event.cursor;
    this.kinds.push(event.kind);
    if (event.kind === 'counts') this.#counts = { unseen: event.unseen, unread: event.unread };
    if (event.kind === 'removed') this.#list.delete(event.key);
    if ('notification' in event) this.#list.set(event.notification.group.key, event.notification);
    if (event.kind !== 'resync') return;
    this.#list.clear();
    const page = await this.#parts.services.readNotifications(this.#session(), {
      first: 100,
    });
    for (const { node } of page.edges) this.#list.set(node.group.key, node);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }
}
