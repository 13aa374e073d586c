import type { Action, UserId } from '../../domain/action.ts';
import { areOfOneTenant, tenantOf } from '../../domain/tenant.ts';
import { NO_SNOOZES, type Follow, type Identity, type ReaderProfile } from '../../domain/viewer.ts';
import type { KnownReader } from '../feed-store.ts';
import { clock } from '../../lib/clock.ts';
import { once } from '../../lib/once.ts';
import type { ReaderSession } from './reader-session.ts';
import type { PulledRefs } from '../../features/follow/store/pulled-refs.ts';
import type { Repositories } from '../../storage/repositories.ts';
import type { SnoozesRepository } from '../../features/marks/store/snoozes.ts';
import { findInteractionPages } from './interaction-pages.ts';
import { createReaderSession } from './loaders.ts';

export type SessionRepositories = Repositories;

/** Opens the session of one request. */
export function openSession(
  {
    actions,
    actionCache,
    nameCache,
    interactions,
    members,
    refs,
    details,
    follows,
    feeds,
    itemMarks,
    snoozes,
    bookmarks,
    pulledRefs,
  }: SessionRepositories,
  identity: Identity,
): ReaderSession {
  return createReaderSession(
    {
      findActions: async (ids) =>
        ofTenant(identity, await (isOperator(identity) ? actions : actionCache).findByIds(ids)),
      findMembers: (ids) => members.findByIds(ids),
      findRefs: (ids) => refs.findByIds(ids),
      findMemberDetails: (ids) => details.ofMembers(ids),
      findRefDetails: (ids) => details.ofRefs(ids),
      findFollows: (userId, refIds) => follows.find(userId, refIds),
      findMarks: (userId, actionIds) => itemMarks.find(userId, actionIds),
      findBookmarks: (userId, actionIds) => bookmarks.find(userId, actionIds),
      findOwn: (userId, actionIds) => interactions.own(actionIds.map((actionId) => ({ userId, actionId }))),
      findInteractionPages: (names) => findInteractionPages(interactions, names),
      loadProfile: (reader, known) =>
        loadProfile({ members, feeds, follows, pulledRefs, snoozes }, reader, known),
      cachedAction: (id, rev) => (isOperator(identity) ? null : actionCache.at(id, rev)),
      async names(directoryStamp) {
        const asOf = await nameCache.asOf(directoryStamp);
        if (asOf === null) return null;
        return {
          directory: asOf,
          findMembers: (ids) => nameCache.members(asOf, ids),
          findRefNames: (ids) => nameCache.refNames(asOf, ids),
        };
      },
    },
    identity,
  );
}

/** Roles that see the progress of deliveries, which is never cached. */
function isOperator({ roles }: Identity): boolean {
  return roles.has('admin') || roles.has('service');
}

/** Filters lookups by id: actions of another tenant are treated as missing. */
function ofTenant({ userId }: Identity, actions: readonly Action[]): readonly Action[] {
  if (tenantOf(userId) === null) return actions;
  return actions.filter(({ actorId }) => areOfOneTenant(actorId, userId));
}

async function loadProfile(
  {
    members,
    feeds,
    follows,
    pulledRefs,
    snoozes,
  }: Pick<SessionRepositories, 'members' | 'feeds' | 'follows' | 'pulledRefs' | 'snoozes'>,
  { userId, roles }: Identity,
  known: KnownReader | null,
): Promise<ReaderProfile> {
  const asOf = known?.asOf ?? clock.now();
  const [member, marks, pulledFollows] = await Promise.all([
    known === null ? members.find(userId) : known.member,
    known?.marks ?? feeds.marks(userId),
    known?.pulledFollows === undefined
      ? pulledFollowsOf(pulledRefs, (refIds) => follows.find(userId, refIds))
      : withSpans(known.pulledFollows),
  ]);
  return {
    userId,
    isAdmin: roles.has('admin'),
    member,
    ...marks,
    pulledFollows,
    asOf,
    endedSnoozes: endedSnoozesOf(snoozes, userId, marks, asOf),
  };
}

/** Loads once, on first use; no query for readers without snoozes. */
export function endedSnoozesOf(
  snoozes: SnoozesRepository,
  userId: UserId,
  { hasSnoozes }: { readonly hasSnoozes: boolean },
  asOf: Date,
): ReaderProfile['endedSnoozes'] {
  return once(() => (hasSnoozes ? snoozes.ended(userId, asOf) : Promise.resolve(NO_SNOOZES)));
}

const NONE: readonly Follow[] = [];

/** A reader's follows of pulled refs; no query if there are no such refs. */
export async function pulledFollowsOf(
  pulledRefs: PulledRefs,
  find: (refIds: readonly string[]) => Promise<readonly Follow[]>,
): Promise<readonly Follow[]> {
  const known = await pulledRefs.known();
  if (known.size === 0) return NONE;
  return withSpans(await find([...known]));
}

function withSpans(follows: readonly Follow[]): readonly Follow[] {
  return follows.filter(({ spans }) => spans.length > 0);
}
