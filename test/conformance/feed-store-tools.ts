import { expect } from 'vitest';
import { compareFeedPositions, type FeedEntry, type FeedPosition } from '../../src/domain/newsfeed-item.ts';
import type { DeliveryOutcome, FeedStore, StoredPage } from '../../src/feed/feed-store.ts';

export interface FeedStoreFixture extends AsyncDisposable {
  readonly store: FeedStore;
}

/** Opens a model with nothing in it. A model with a cap of its own takes this one: 1,000 unless given. */
export type OpenFeedStore = (options?: { readonly cap?: number }) => Promise<FeedStoreFixture>;

export const id = (n: number): string => n.toString(16).padStart(24, '0');
export const at = (ms: number): Date => new Date(1_700_000_000_000 + ms);

export function entry(n: number, ms: number, reasons: FeedEntry['reasons'] = ['FOLLOW']): FeedEntry {
  return { actionId: id(n), relevancy: at(ms), reasons };
}

export function inOrder(entries: readonly FeedEntry[]): FeedEntry[] {
  return [...entries].sort(compareFeedPositions);
}

/** What of the entries is above the position; all of them where there is none. */
export function above(floor: FeedPosition | null, entries: readonly FeedEntry[]): FeedEntry[] {
  return entries.filter((found) => floor === null || compareFeedPositions(found, floor) < 0);
}

export async function readAll(store: FeedStore, userId: string, limit: number): Promise<FeedEntry[]> {
  return [...(await readStored(store, userId, limit)).entries];
}

/** Reads on to the end of what the model holds; the floor is that of the last page. */
export async function readStored(store: FeedStore, userId: string, limit: number): Promise<StoredPage> {
  const entries: FeedEntry[] = [];
  let after: FeedPosition | undefined;
  for (;;) {
    const page = await store.page({ userId, limit, ...(after === undefined ? {} : { after }) });
    expect(page.entries.length).toBeLessThanOrEqual(limit);
    entries.push(...page.entries);
    if (page.entries.length < limit) return { entries, floor: page.floor };
    after = page.entries.at(-1);
  }
}

/** Begins an empty feed that is known to be complete, as a rebuild does. */
export async function begin(store: FeedStore, ...userIds: readonly string[]): Promise<void> {
  for (const userId of userIds) {
    await store.drop(userId);
    await store.fill(userId, []);
    await store.fill(userId, [], { isCompleteDownTo: null });
  }
}

export async function deliver(
  store: FeedStore,
  n: number,
  ms: number,
  userIds: readonly string[],
  more: {
    readonly reasons?: FeedEntry['reasons'];
    readonly isFirstAttempt?: boolean;
    readonly isRaise?: boolean;
  } = {},
): Promise<DeliveryOutcome> {
  const reasons = more.reasons ?? ['FOLLOW'];
  const [outcome] = await store.deliver([
    {
      actionId: id(n),
      readers: userIds.map((userId) => ({ userId, relevancy: at(ms), reasons })),
      isFirstAttempt: more.isFirstAttempt ?? true,
      isRaise: more.isRaise ?? false,
    },
  ]);
  if (outcome === undefined) throw new Error('There is no outcome');
  return outcome;
}
