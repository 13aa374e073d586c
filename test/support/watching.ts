import type { Identity } from '../../src/domain/viewer.ts';
import type { Services } from './services.ts';
import type { FeedEvent, WatchArgs } from '../../src/core/shapes.ts';

/** One open watch below the API. Disposing ends it. */
export interface Watching extends AsyncDisposable {
  readonly stream: AsyncIterator<FeedEvent>;
  readonly controller: AbortController;
  /** The next event. */
  next(): Promise<FeedEvent>;
  /** The next event that is a count. */
  unread(): Promise<Extract<FeedEvent, { kind: 'unread' }>>;
}

/** Begins to watch and has got `ready`. */
export async function watching(
  services: Pick<Services, 'watchFeed'>,
  identity: Identity,
  args: Omit<WatchArgs, 'signal'> = { withUnread: true },
): Promise<Watching & { readonly cursor: string }> {
  const controller = new AbortController();
  const events = await services.watchFeed(identity, { ...args, signal: controller.signal });
  const stream = events[Symbol.asyncIterator]();
  const next = async (): Promise<FeedEvent> => {
    const { value, done } = await stream.next();
    if (done === true) throw new Error('The watch has ended');
    return value;
  };
  const { kind, cursor } = await next();
  if (kind !== 'ready') throw new Error(`Expected ready, got ${kind}`);
  return {
    stream,
    controller,
    cursor,
    next,
    async unread() {
      for (;;) {
        const event = await next();
        if (event.kind === 'unread') return event;
      }
    },
    async [Symbol.asyncDispose]() {
      controller.abort();
      await stream.return?.();
    },
  };
}
