import type { FeedClient, UnreadCount } from '@fanfare/client';
import { UNREAD_COUNT } from '../documents.ts';
import type { FanfareItem } from '../item.ts';
import type { Connection, Subscriber } from './connection.ts';
import { Signal, Usage } from './signal.ts';

/** The unread count of the whole feed. Null until it is known. */
export class UnreadStore extends Signal {
  readonly #client: Pick<FeedClient<FanfareItem>, 'request'>;
  readonly #usage: Usage;
  #count: UnreadCount | null = null;

  constructor(client: Pick<FeedClient<FanfareItem>, 'request'>, connection: Connection) {
    super();
    this.#client = client;
    let close: (() => void) | null = null;
    const subscriber: Subscriber = {
      ...{ what: 'watch', of: {}, cursor: undefined },
      onEvent: (event) => {
        if (event.__typename === 'UnreadCountChanged') this.set(event.unread);
      },
      onResync: () => this.#load(),
    };
    this.#usage = new Usage(
      () => {
        close = connection.open(subscriber);
      },
      () => {
        close?.();
      },
    );
  }

  readonly getSnapshot = (): UnreadCount | null => this.#count;

  readonly use = (listener: () => void): (() => void) => this.#usage.begin(this.subscribe(listener));

  set(count: UnreadCount): void {
    if (count.count === this.#count?.count && count.isExact === this.#count.isExact) return;
    this.#count = count;
    this.emit();
  }

  async #load(): Promise<void> {
    interface Data {
      readonly viewer: { readonly unreadCount: UnreadCount };
    }
    this.set((await this.#client.request<Data>(UNREAD_COUNT)).viewer.unreadCount);
  }
}
