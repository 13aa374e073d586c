import { LRUCache } from 'lru-cache';
import { onceFor } from '../../../src/lib/once-for.ts';

/** A feed as it is sent. */
export interface KeptFeed {
  readonly body: string;
  readonly etag: string;
}

/** How long a feed is sent again without being read, in milliseconds. */
export const KEPT_MS = 60_000;
const MAX_CHARACTERS = 8 * 1024 * 1024;

/** Feeds that this process has read lately. Requests for the same one share a read. */
class KeptFeeds {
  readonly #feeds = new LRUCache<string, KeptFeed>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ body }, name) => body.length + name.length + 1,
    ttl: KEPT_MS,
  });
  readonly #underWay = new Map<string, Promise<KeptFeed>>();

  /** @param digest of the key that opens it; `null`: it is open to everybody */
  async read(digest: string | null, what: string, read: () => Promise<KeptFeed>): Promise<KeptFeed> {
    const name = `${digest ?? ''}\n${what}`;
    const kept = this.#feeds.get(name);
    if (kept !== undefined) return kept;
    const shared = this.#underWay.get(name);
    if (shared !== undefined) return shared;
    const reading = read();
    this.#underWay.set(name, reading);
    try {
      const feed = await reading;
      // It may have been forgotten meanwhile.
      if (this.#underWay.get(name) === reading) this.#feeds.set(name, feed);
      return feed;
    } finally {
      if (this.#underWay.get(name) === reading) this.#underWay.delete(name);
    }
  }

  /** Forgets what a key has opened, also what is being read. */
  forget(digest: string): void {
    for (const names of [this.#feeds, this.#underWay])
      for (const name of names.keys()) if (name.startsWith(`${digest}\n`)) names.delete(name);
  }
}

export const keptFeedsOf = onceFor((_core: object) => new KeptFeeds());
