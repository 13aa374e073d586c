import type { Action } from '../../domain/action.ts';
import type { Follow } from '../../domain/viewer.ts';
import { isEntitled, needsFollows } from '../../domain/visibility.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import { followsOf, learnOfActions } from './hydration.ts';

/**
 * The visible ones among these actions; loads follows only when visibility depends on them.
 * @param known follows of the reader that need not be loaded
 */
export async function entitledActions(
  session: ReaderSession,
  actions: readonly Action[],
  known: readonly Follow[] = [],
): Promise<Action[]> {
  const profile = await session.profile();
  await learnOfActions(session, profile, actions, []);
  const inQuestion = actions.filter((action) => needsFollows(profile, action, known));
  const follows = [...known, ...(await followsOf(session, inQuestion))];
  return actions.filter((action) => isEntitled(profile, action, follows));
}
