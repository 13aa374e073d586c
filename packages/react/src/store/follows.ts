import type { FeedClient, FollowState } from '@fanfare/client';
import type { FanfareItem } from '../item.ts';
import { Signal } from './signal.ts';

const QUERY = `query FollowState($refId: String!) { ref(refId: $refId) { refId isFollowed followerCount } }`;

/** Which people and things the reader follows, as far as anything asked. */
export class FollowStore extends Signal {
  readonly #client: Pick<FeedClient<FanfareItem>, 'request' | 'mutations'>;
  readonly #known = new Map<string, FollowState>();
  readonly #asked = new Set<string>();

  constructor(client: Pick<FeedClient<FanfareItem>, 'request' | 'mutations'>) {
    super();
    this.#client = client;
  }

  /** Undefined until it is known. */
  readonly get = (refId: string): FollowState | undefined => this.#known.get(refId);

  /** Asks once. */
  async load(refId: string): Promise<void> {
    if (this.#asked.has(refId)) return;
    this.#asked.add(refId);
    try {
      const { ref } = await this.#client.request<{ readonly ref: FollowState | null }>(QUERY, { refId });
      this.#put(ref ?? { refId, isFollowed: false, followerCount: 0 });
    } catch (error) {
      this.#asked.delete(refId);
      throw error;
    }
  }

  /** Shown at once, and taken back when it fails. */
  async set(refId: string, isFollowed: boolean): Promise<FollowState> {
    const before = this.#known.get(refId) ?? { refId, isFollowed: !isFollowed, followerCount: 0 };
    const by = before.isFollowed === isFollowed ? 0 : isFollowed ? 1 : -1;
    this.#put({ refId, isFollowed, followerCount: Math.max(0, before.followerCount + by) });
    const { follow, unfollow } = this.#client.mutations;
    try {
      const state = await (isFollowed ? follow : unfollow)({ refId });
      this.#put(state);
      return state;
    } catch (error) {
      this.#put(before);
      throw error;
    }
  }

  #put(state: FollowState): void {
    this.#known.set(state.refId, state);
    this.emit();
  }
}
