import type { Identity, ReaderProfile } from '../domain/viewer.ts';
import type { ReaderSession } from '../services/reader-session.ts';
import { createReaderSession } from './loaders.ts';
import { createSharedSources, pulledFollowsOf, type SessionRepositories } from './shared-sources.ts';

/** Opens a session on the repositories: that of one request. */
export function openSession(
  { actions, members, refs, follows, feeds, hiddenItems, pulledRefs }: SessionRepositories,
  identity: Identity,
): ReaderSession {
  return createReaderSession(
    {
      findActions: (ids) => actions.findByIds(ids),
      findMembers: (ids) => members.findByIds(ids),
      findRefs: (ids) => refs.findByIds(ids),
      findFollows: (userId, refIds) => follows.find(userId, refIds),
      findHidden: (userId, actionIds) => hiddenItems.find(userId, actionIds),
      loadProfile: (reader) => loadProfile({ members, feeds, follows, pulledRefs }, reader),
    },
    identity,
  );
}

/** Opens sessions of live events, which share what they load in the same moment; make one opener per process. */
export function createEventSessions(
  repositories: SessionRepositories,
): (identity: Identity) => ReaderSession {
  const sources = createSharedSources(repositories);
  return (identity) => createReaderSession(sources, identity);
}

async function loadProfile(
  {
    members,
    feeds,
    follows,
    pulledRefs,
  }: Pick<SessionRepositories, 'members' | 'feeds' | 'follows' | 'pulledRefs'>,
  { userId, roles }: Identity,
): Promise<ReaderProfile> {
  const [member, marks, pulledFollows] = await Promise.all([
    members.find(userId),
    feeds.marks(userId),
    pulledFollowsOf(pulledRefs, (refIds) => follows.find(userId, refIds)),
  ]);
  return { userId, isAdmin: roles.has('admin'), member, ...marks, pulledFollows };
}
