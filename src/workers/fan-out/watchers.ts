import type { Action, UserId } from '../../domain/action.ts';
import { audienceAmong, type AudienceMember } from './audience.ts';
import type { WatchingAudienceDependencies } from './fan-out-dependencies.ts';

const CHUNK = 500;
/** Most readers looked at: with more who watch, looking for those concerned takes longer than they would wait. */
const MOST = 2_000;
/** Watchers delivered to in one go: while the next ones are written, those before are shown theirs. */
export const WATCHERS_AT_ONCE = 250;

/** Watchers in the audience, with every reason. Costs a look through all who watch, and a query per 500, 2,000 at most. */
export async function* watchersAmongAudience(
  dependencies: WatchingAudienceDependencies,
  action: Action,
): AsyncGenerator<readonly AudienceMember[], void, undefined> {
  const watched = await someWatched(dependencies);
  for (let from = 0; from < watched.length; from += CHUNK) {
    const audience = await audienceAmong(dependencies, action, watched.slice(from, from + CHUNK));
    // What comes by pulling alone is not delivered.
    const pushed = audience.flatMap(({ userId, reasons }) => {
      const kept = reasons.filter((reason) => reason !== 'PULL');
      return kept.length === 0 ? [] : [{ userId, reasons: kept }];
    });
    yield* slicesOf(pushed);
  }
}

/** The same of an audience that is known. One look-up of who watches, and none where all of it is delivered to in one go. */
export async function* watchersInChunk(
  { liveLog, onLiveLogError }: Pick<WatchingAudienceDependencies, 'liveLog' | 'onLiveLogError'>,
  chunk: readonly AudienceMember[],
): AsyncGenerator<readonly AudienceMember[], void, undefined> {
  if (chunk.length <= WATCHERS_AT_ONCE) return;
  let watched: ReadonlySet<UserId>;
  try {
    watched = new Set(await liveLog.watched(chunk.map(({ userId }) => userId)));
  } catch (error) {
    onLiveLogError(error);
    return;
  }
  yield* slicesOf(chunk.filter(({ userId }) => watched.has(userId)));
}

function* slicesOf(members: readonly AudienceMember[]): Generator<readonly AudienceMember[]> {
  for (let from = 0; from < members.length; from += WATCHERS_AT_ONCE)
    yield members.slice(from, from + WATCHERS_AT_ONCE);
}

/** Nobody where the live log does not answer: it holds no delivery up. */
async function someWatched({
  liveLog,
  onLiveLogError,
}: WatchingAudienceDependencies): Promise<readonly UserId[]> {
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
