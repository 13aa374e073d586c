import type { Context } from '../../feeds/context.ts';
import type { Action, UserId } from '../../domain/action.ts';
import { audienceAmong, type AudienceMember } from './audience.ts';
import type { Fence } from './fence.ts';

const CHUNK = 500;
/** Upper bound on watchers examined: with more, finding those concerned would take longer than waiting for their chunk. */
const MOST = 2_000;
/** Watchers per chunk: while the next chunk is written, the previous one is announced. */
const WATCHERS_AT_ONCE = 250;
/** The same while other passes keep everybody busy anyway. */
const WATCHERS_AT_ONCE_IN_COMPANY = 1_000;

/** Decides how many watchers a chunk has. */
export type Company = Fence;

/** Watchers in the audience with all reasons. Costs one presence list and a query per 500 watchers, for at most 2,000. */
export async function* watchersAmongAudience(
  dependencies: Context,
  action: Action,
  company: Company,
): AsyncGenerator<readonly AudienceMember[], void, undefined> {
  const watched = await someWatched(dependencies);
  for (let from = 0; from < watched.length; from += CHUNK) {
    const audience = await audienceAmong(dependencies, action, watched.slice(from, from + CHUNK));
    // Entries that are only pulled are not delivered.
    const pushed = audience.flatMap(({ userId, reasons }) => {
      const kept = reasons.filter((reason) => reason !== 'PULL');
      return kept.length === 0 ? [] : [{ userId, reasons: kept }];
    });
    yield* slicesOf(pushed, company);
  }
}

/** The same for a known audience. One presence query; none if the whole audience is written at once. */
export async function* watchersInChunk(
  { liveLog, onLiveLogError }: Context,
  chunk: readonly AudienceMember[],
  company: Company,
): AsyncGenerator<readonly AudienceMember[], void, undefined> {
  if (chunk.length <= WATCHERS_AT_ONCE) return;
  let watched: ReadonlySet<UserId>;
  try {
    watched = new Set(await liveLog.watched(chunk.map(({ userId }) => userId)));
  } catch (error) {
    onLiveLogError(error);
    return;
  }
  yield* slicesOf(
    chunk.filter(({ userId }) => watched.has(userId)),
    company,
  );
}

function* slicesOf(
  members: readonly AudienceMember[],
  company: Company,
): Generator<readonly AudienceMember[]> {
  let from = 0;
  while (from < members.length) {
    const to = from + (company.hasCompany() ? WATCHERS_AT_ONCE_IN_COMPANY : WATCHERS_AT_ONCE);
    yield members.slice(from, to);
    from = to;
  }
}

/** Nobody if the live log does not answer: it must not delay deliveries. */
async function someWatched({ liveLog, onLiveLogError }: Context): Promise<readonly UserId[]> {
  const watched = new Set<UserId>();
  try {
    for await (const userIds of liveLog.allWatched()) {
      for (const userId of userIds) watched.add(userId);
      if (watched.size >= MOST) break;
    }
  } catch (error) {
    onLiveLogError(error);
    return [];
  }
  return [...watched].slice(0, MOST);
}
