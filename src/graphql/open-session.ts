import type { Identity, ReaderProfile } from '../domain/viewer.ts';
import type { ReaderSession } from '../services/reader-session.ts';
import type { Repositories } from '../storage/repositories.ts';
import { createReaderSession } from './loaders.ts';

/** Opens a session on the repositories: one request's or one live event's. */
export function openSession(
  {
    actions,
    members,
    refs,
    follows,
    feeds,
    hiddenItems,
  }: Pick<Repositories, 'actions' | 'members' | 'refs' | 'follows' | 'feeds' | 'hiddenItems'>,
  identity: Identity,
): ReaderSession {
  return createReaderSession(
    {
      findActions: (ids) => actions.findByIds(ids),
      findMembers: (ids) => members.findByIds(ids),
      findRefs: (ids) => refs.findByIds(ids),
      findFollows: (userId, refIds) => follows.find(userId, refIds),
      findHidden: (userId, actionIds) => hiddenItems.find(userId, actionIds),
      loadProfile: (reader) => loadProfile({ members, feeds }, reader),
    },
    identity,
  );
}

async function loadProfile(
  { members, feeds }: Pick<Repositories, 'members' | 'feeds'>,
  { userId, roles }: Identity,
): Promise<ReaderProfile> {
  const [member, marks] = await Promise.all([members.find(userId), feeds.marks(userId)]);
  return { userId, isAdmin: roles.has('admin'), member, ...marks };
}
