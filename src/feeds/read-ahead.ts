import type { Context } from './context.ts';
import type { ReaderProfile } from '../domain/viewer.ts';
import { clock } from '../lib/clock.ts';
import type { FeedPageQuery, FeedQuery, KnownReader, StoredPage } from './feed-store.ts';
import type { PulledAhead, PullGuesses } from '../storage/follows/pull-guesses.ts';

/** A page requested from the store before its reader is known. Its promises need not be awaited. */
export interface FeedAhead {
  /** Facts about the reader that the store read before the page; `null`: none. */
  readonly known: Promise<KnownReader | null>;
  readonly page: Promise<StoredPage>;
  /** Data about pulled refs read with the page; `null`: none. */
  readonly pulled: Promise<PulledAhead | null>;
  /** Start of the read, by the clock shared between processes. */
  readonly begunAt: number;
}

/**
 * A page read ahead is valid only if the profile already declared the stored feed complete when the page was read. If the
 * profile is read after the page, a rebuild may have finished in between: the profile would then call complete what had gaps
 * before. So unless the store read the profile first, the rebuild must have ended before the read began, by more than the
 * clock difference between hosts plus the time a write may wait for the database.
 */
const SETTLED_AFTER_MS = 300_000;

const NOTHING: Promise<null> = Promise.resolve(null);

/** Whether a page is the first one, without a range. */
export function isPlain({ after, since, until }: Omit<FeedQuery, 'limit'>): boolean {
  return after === undefined && since === undefined && until === undefined;
}

export function readAhead(
  { feedStore, pulledRefs }: Context,
  guesses: PullGuesses,
  { userId, ...query }: FeedPageQuery,
): FeedAhead {
  const begunAt = clock.time();
  const asked = { ...query, userId };
  const { open } = feedStore;
  const guess = isPlain(query) ? guesses.of(userId, query.limit) : null;
  const opening =
    open === undefined ? undefined : pulledRefs.known().then((refIds) => open(asked, { refIds, guess }));
  const ahead: FeedAhead = {
    begunAt,
    known: opening === undefined ? NOTHING : opening.then((opened) => opened?.reader ?? null),
    page:
      opening === undefined
        ? feedStore.page(asked)
        : opening.then((opened) => opened ?? feedStore.page(asked)),
    pulled: opening === undefined ? NOTHING : opening.then((opened) => opened?.pulled ?? null),
  };
  // Awaited only by callers that need them: avoid unhandled rejections.
  for (const promise of [ahead.known, ahead.page, ahead.pulled]) promise.catch(() => undefined);
  return ahead;
}

export async function counts({ rebuiltAt }: ReaderProfile, { begunAt, known }: FeedAhead): Promise<boolean> {
  const isSettled = rebuiltAt === null || begunAt - rebuiltAt.getTime() > SETTLED_AFTER_MS;
  return isSettled || (await known) !== null;
}
