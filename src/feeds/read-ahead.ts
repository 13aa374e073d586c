import type { ReaderProfile } from '../domain/viewer.ts';
import { clock } from '../lib/clock.ts';
import type { FeedPageQuery, FeedQuery, KnownReader, StoredPage } from './feed-store.ts';
import type { FeedReaderDependencies } from './feed-dependencies.ts';
import type { PulledAhead, PullGuesses } from '../storage/follows/pull-guesses.ts';

/** A page that the store has been asked for before its reader was known. No promise of it has to be awaited. */
export interface FeedAhead {
  /** What the store has told of the reader besides, read before the page; null: nothing. */
  readonly known: Promise<KnownReader | null>;
  readonly page: Promise<StoredPage>;
  /** What was read with the page of pulled refs; null: nothing. */
  readonly pulled: Promise<PulledAhead | null>;
  /** When it was begun, by the clock that processes share. */
  readonly begunAt: number;
}

/**
 * What was read of a store counts only if the reader's profile already vouched for the store when it was read. Read
 * before the profile, that holds unless a rebuild came to its end in between: by what the profile says now there would be
 * no hole where there was one then. So, unless the store has read the profile before the page, the rebuild must have
 * ended before the read began by more than clocks of hosts differ and a write waits for the database.
 */
const SETTLED_AFTER_MS = 300_000;

const NOTHING: Promise<null> = Promise.resolve(null);

/** Whether a page is the first one, of everything. */
export function isPlain({ after, since, until }: Omit<FeedQuery, 'limit'>): boolean {
  return after === undefined && since === undefined && until === undefined;
}

export function readAhead(
  { feedStore, pulledRefs }: Pick<FeedReaderDependencies, 'feedStore' | 'pulledRefs'>,
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
  // Awaited by who needs them; for others they may fail.
  for (const promise of [ahead.known, ahead.page, ahead.pulled]) promise.catch(() => undefined);
  return ahead;
}

export async function counts({ rebuiltAt }: ReaderProfile, { begunAt, known }: FeedAhead): Promise<boolean> {
  const isSettled = rebuiltAt === null || begunAt - rebuiltAt.getTime() > SETTLED_AFTER_MS;
  return isSettled || (await known) !== null;
}
