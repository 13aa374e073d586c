import type { FeedClient, FollowState } from '@fanfare/client';
import { FOLLOW_STATE } from '../documents.ts';
import type { FanfareItem } from '../item.ts';
import { Signal } from './signal.ts';

function nodeOf(refId: string): string {
  return btoa(String.fromCodePoint(...new TextEncoder().encode(`Ref:${refId}`)));
}

/** Which people and things the reader follows, as far as anything asked. */
export class FollowStore extends Signal {
  readonly #client: Pick<FeedClient<FanfareItem>, 'request' | 'mutations'>;
  readonly #confirmed = new Map<string, FollowState>();
  readonly #shown = new Map<string, FollowState>();
  /** What the reader wants and the server has not confirmed, in order. */
  readonly #writes = new Map<string, readonly { readonly isFollowed: boolean }[]>();
  readonly #sending = new Map<string, Promise<unknown>>();
  readonly #asked = new Set<string>();

  constructor(client: Pick<FeedClient<FanfareItem>, 'request' | 'mutations'>) {
    super();
    this.#client = client;
  }

  /** Undefined until it is known. */
  readonly get = (refId: string): FollowState | undefined => this.#shown.get(refId);

  /** Asks once. */
  async load(refId: string): Promise<void> {
    if (this.#asked.has(refId)) return;
    this.#asked.add(refId);
    try {
      interface Data {
        readonly node: FollowState | null;
      }
      const { node } = await this.#client.request<Data>(FOLLOW_STATE, { id: nodeOf(refId) });
      // A write that was confirmed meanwhile is later than this.
      if (!this.#confirmed.has(refId))
        this.#confirmed.set(refId, node ?? { refId, isFollowed: false, followerCount: 0 });
      this.#show(refId);
    } catch (error) {
      this.#asked.delete(refId);
      throw error;
    }
  }

  /** Shown at once, and taken back when it fails. Sent behind what the reader wanted before. */
  async set(refId: string, isFollowed: boolean): Promise<FollowState> {
    const write = { isFollowed };
    this.#setWrites(refId, [...this.#writesOf(refId), write]);
    const { follow, unfollow } = this.#client.mutations;
    const sent = (this.#sending.get(refId) ?? Promise.resolve()).then(() =>
      (isFollowed ? follow : unfollow)({ refId }),
    );
    this.#sending.set(
      refId,
      sent.catch(() => undefined),
    );
    try {
      const state = await sent;
      this.#confirmed.set(refId, state);
      return state;
    } finally {
      this.#setWrites(
        refId,
        this.#writesOf(refId).filter((other) => other !== write),
      );
    }
  }

  #writesOf(refId: string): readonly { readonly isFollowed: boolean }[] {
    return this.#writes.get(refId) ?? [];
  }

  #setWrites(refId: string, writes: readonly { readonly isFollowed: boolean }[]): void {
    this.#writes.set(refId, writes);
    this.#show(refId);
  }

  #show(refId: string): void {
    let state = this.#confirmed.get(refId);
    for (const { isFollowed } of this.#writesOf(refId)) {
      const { isFollowed: was, followerCount } = state ?? { isFollowed: !isFollowed, followerCount: 0 };
      const by = was === isFollowed ? 0 : isFollowed ? 1 : -1;
      state = { refId, isFollowed, followerCount: Math.max(0, followerCount + by) };
    }
    if (state === undefined) this.#shown.delete(refId);
    else this.#shown.set(refId, state);
    this.emit();
  }
}
