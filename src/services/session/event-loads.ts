import type { ItemMark } from '../../domain/item-mark.ts';
import type { MemberDetails, RefDetails } from '../../domain/details.ts';
import type { OwnInteractions } from '../../domain/interaction.ts';
import type { Member, Ref } from '../../domain/member.ts';
import type { Follow } from '../../domain/viewer.ts';
import { SharedLoads } from '../../lib/shared-loads.ts';
import type { FollowPair } from '../../storage/follows/follow-reads.ts';
import type { OwnPair } from '../../storage/interactions/interaction-lists.ts';
import type { ReaderAction } from '../../storage/documents/reader-action-id.ts';
import type { Stamps } from '../../storage/readers/reader-stamps.ts';
import { findInteractionPages, type InteractionPage } from './interaction-pages.ts';
import type { SessionRepositories } from './open-session.ts';
import type { ActionRead } from './reader-session.ts';

const maxBatch = 500;
const sameName = (id: string): string => id;
/** Key of the single document with the stamps of all readers. */
export const ALL_STAMPS = 'all';

export type EventLoads = ReturnType<typeof createEventLoads>;

/** Loads shared by the sessions of live events. Keys of data of one reader include the reader. */
export function createEventLoads(repositories: SessionRepositories) {
  const byId = <V>(
    load: (ids: readonly string[]) => Promise<readonly V[]>,
    resultName: (result: V) => string,
  ) => new SharedLoads({ load, resultName, nameOf: sameName, maxBatch });
  return {
    pulledRefs: repositories.pulledRefs,
    snoozes: repositories.snoozes,
    stamps: byId<{ readonly name: string; readonly stamps: Stamps }>(
      async (names) => {
        const stamps = await repositories.readerStamps.read();
        return names.map((name) => ({ name, stamps }));
      },
      ({ name }) => name,
    ),
    actionReads: byId<ActionRead>(
      async (ids) => (await repositories.actions.findByIds(ids)).map((action) => ({ action })),
      ({ action }) => action.id,
    ),
    members: byId<Member>(
      (ids) => repositories.members.findByIds(ids),
      ({ userId }) => userId,
    ),
    refs: byId<Ref>(
      (ids) => repositories.refs.findByIds(ids),
      ({ refId }) => refId,
    ),
    memberDetails: byId<MemberDetails>(
      (ids) => repositories.details.ofMembers(ids),
      ({ userId }) => userId,
    ),
    refDetails: byId<RefDetails>(
      (ids) => repositories.details.ofRefs(ids),
      ({ refId }) => refId,
    ),
    marks: byId(
      (ids) => repositories.feeds.marksOf(ids),
      ({ userId }) => userId,
    ),
    follows: new SharedLoads<FollowPair, Follow & FollowPair>({
      load: (keys) => repositories.follows.findPairs(keys),
      nameOf: followName,
      resultName: followName,
      maxBatch,
    }),
    own: new SharedLoads<OwnPair, OwnInteractions & OwnPair>({
      load: (keys) => repositories.interactions.own(keys),
      nameOf: pairName,
      resultName: pairName,
      maxBatch,
    }),
    interactionPages: byId<InteractionPage>(
      (names) => findInteractionPages(repositories.interactions, names),
      ({ name }) => name,
    ),
    itemMarks: new SharedLoads<ReaderAction, ItemMark & ReaderAction>({
      load: (keys) => repositories.itemMarks.findPairs(keys),
      nameOf: pairName,
      resultName: pairName,
      maxBatch,
    }),
    bookmarks: new SharedLoads<ReaderAction, ReaderAction>({
      load: (keys) => repositories.bookmarks.findPairs(keys),
      nameOf: pairName,
      resultName: pairName,
      maxBatch,
    }),
  };
}

function followName({ followerId, refId }: FollowPair): string {
  return JSON.stringify([followerId, refId]);
}

function pairName({ userId, actionId }: ReaderAction): string {
  return JSON.stringify([userId, actionId]);
}
