import type { ReaderProfile } from '../domain/viewer.ts';
import { clock } from '../lib/clock.ts';
import type { Context } from './context.ts';
import type { Beside } from './store/known-answers.ts';
import type { FeedPageQuery, FeedQuery, KnownReader, OpenedFeed, StoredPage } from './feed-store.ts';
import type { PulledAhead, PullGuesses } from './store/pulled-refs.ts';

/** A page requested from the store before its reader is known. Its promises need not be awaited. */
export interface FeedAhead {
  /** Facts about the reader that the store read before the page; `null`: none. */
  readonly known: () => Promise<KnownReader | null>;
  readonly page: () => Promise<StoredPage>;
  /** Data about pulled refs read with the page; `null`: none. */
  readonly pulled: () => Promise<PulledAhead | null>;
  /** The answer with all of this; `null`: there is more than one. */
  readonly opened: Promise<OpenedFeed | null>;
  /** Start of the read, by the clock shared between processes. */
  readonly begunAt: number;
  /** Called when more is read for the page. Default: nobody asks. */
  readonly readsOn?: () => void;
}

/**
 * A page read ahead is valid only if the profile already declared the stored feed complete when the page was read. If the
 * profile is read after the page, a rebuild may have finished in between: the profile would then call complete what had gaps
 * before. So unless the store read the profile first, the rebuild must have ended before the read began, by more than the
 * clock difference between hosts plus the time a write may wait for the database.
 */
const SETTLED_AFTER_MS = 300_000;

const NOTHING: Promise<null> = Promise.resolve(null);
const nothing = (): Promise<null> => NOTHING;

/** Whether a page is the first one, without a range. */
export function isPlain({ after, since, until }: Omit<FeedQuery, 'limit'>): boolean {
  return after === undefined && since === undefined && until === undefined;
}

/** Starts reading it. @param begin writes down that there is such a reader */
export function readAhead(
  { feedStore, pulledRefs }: Context,
  guesses: PullGuesses,
  { query, beside }: { readonly query: FeedPageQuery; readonly beside: Beside | null },
  begin: () => Promise<unknown>,
): FeedAhead {
  const begunAt = clock.time();
  const { open } = feedStore;
  const guess = isPlain(query) ? guesses.of(query.userId, query.limit) : null;
  const opening =
    open === undefined
      ? undefined
      : pulledRefs.known().then(async (refIds) => {
          const opened = await open(query, { refIds, guess }, beside);
          if (opened !== null) return opened;
          await begin();
          return open(query, { refIds, guess }, beside);
        });
  if (opening === undefined) {
    const page = feedStore.page(query);
    // Awaited only by callers that need it: avoid an unhandled rejection.
    page.catch(() => undefined);
    return { begunAt, opened: NOTHING, known: nothing, page: () => page, pulled: nothing };
  }
  opening.catch(() => undefined);
  return {
    ...{ begunAt, opened: opening },
    known: async () => (await opening)?.read().reader ?? null,
    page: async () => (await opening)?.read() ?? feedStore.page(query),
    pulled: async () => (await opening)?.read().pulled ?? null,
  };
}

/** Whether the page that was read ahead may be used for the reader. */
export async function isUsable(
  { rebuiltAt }: ReaderProfile,
  { begunAt, known }: FeedAhead,
): Promise<boolean> {
  const isSettled = rebuiltAt === null || begunAt - rebuiltAt.getTime() > SETTLED_AFTER_MS;
  return isSettled || (await known()) !== null;
}
