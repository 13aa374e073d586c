import type { Repositories } from '../../storage/repositories.ts';
import type { Filter } from 'mongodb';
import { isMutedAction, type MutableAction } from '../../descriptors/muted-action.ts';
import type { ActionId, UserId } from '../../domain/action.ts';
import type { FeedDocument } from '../../storage/documents/reader-documents.ts';
import { mutesOf } from '../../storage/documents/mute-document.ts';
import { ENDING_STATES, LASTING_STATES } from '../../domain/item-states.ts';
import type { ReaderMutes } from '../../domain/mute.ts';
import type { Collections } from '../../storage/database/mongo.ts';
import { ofReaderActions, type ReaderActionId } from '../../storage/documents/reader-action-id.ts';
import { groupsOf } from '../../lib/groups-of.ts';
import { inOneBatch } from '../../storage/database/batches.ts';

declare module '../../storage/repositories.ts' {
  interface Repositories {
    readonly readerChoices: ReturnType<typeof readerChoicesRepository>;
    readonly readers: ReturnType<typeof readersRepository>;
  }
}

/** An action, and readers of it. No action occurs twice. */
export interface Delivered {
  readonly action: { readonly id: ActionId } & MutableAction;
  readonly userIds: readonly UserId[];
}

/** Mutes and marks of many readers at once. */
export function readerChoicesRepository({ feeds, itemMarks }: Collections, blocks: Repositories['blocks']) {
  async function refuseBlocked(
    refusing: ReadonlyMap<ActionId, Set<UserId>>,
    deliveries: readonly Delivered[],
    withBlocks: ReadonlySet<UserId>,
  ): Promise<void> {
    const pairs = deliveries.flatMap(({ action, userIds }) =>
      userIds
        .filter((userId) => withBlocks.has(userId))
        .map((userId) => ({ userId, otherId: action.actorId })),
    );
    const found = await blocks.findPairs(pairs);
    const blocked = groupsOf(found, ({ otherId }) => otherId);
    for (const { action } of deliveries)
      for (const { userId } of blocked.get(action.actorId) ?? []) refusing.get(action.id)?.add(userId);
  }

  return {
    /**
     * Readers among these who mute the action, keep its item out of their feed, or have a block with its actor, for each of
     * the actions. One round trip, one more if any of them has marked single items, and one if any has blocks. Unique keys:
     * `_id`.
     */
    async refusing(deliveries: readonly Delivered[], now: Date): Promise<readonly ReadonlySet<UserId>[]> {
      const everybody = [...new Set(deliveries.flatMap(({ userIds }) => userIds))];
      const found = await inOneBatch(
        feeds
          .find({
            _id: { $in: everybody },
            $or: [...mayMute(deliveries), { hasMarks: true }, { hasBlocks: true }],
          })
          .project<Pick<FeedDocument, '_id' | 'mutes' | 'hasBlocks'>>({ mutes: 1, hasBlocks: 1 }),
        everybody.length,
      );
      const mutes = new Map(found.map((document) => [document._id, mutesOf(document)]));
      const refusing = new Map(
        deliveries.map(({ action, userIds }) => [
          action.id,
          new Set(userIds.filter((userId) => isMutedBy(mutes.get(userId), action))),
        ]),
      );
      const withBlocks = new Set(found.flatMap(({ _id, hasBlocks }) => (hasBlocks === true ? _id : [])));
      if (withBlocks.size > 0) await refuseBlocked(refusing, deliveries, withBlocks);
      const others = deliveries.flatMap(({ action: { id: actionId }, userIds }) =>
        userIds
          .filter((userId) => mutes.has(userId) && refusing.get(actionId)?.has(userId) !== true)
          .map((userId) => ({ userId, actionId })),
      );
      if (others.length > 0) {
        const marks = await inOneBatch(
          itemMarks
            .find({
              ...ofReaderActions(others),
              $or: [
                { state: { $in: LASTING_STATES } },
                ...ENDING_STATES.map((state) => ({
                  ...{ state, until: { $gt: now }, isOver: { $exists: false } },
                })),
              ],
            })
            .hint('_id_')
            .project<{ _id: ReaderActionId }>({ _id: 1 }),
          others.length,
        );
        for (const { _id } of marks) refusing.get(_id.actionId.toHexString())?.add(_id.userId);
      }
      return deliveries.map(({ action }) => refusing.get(action.id) ?? new Set());
    },
  };
}

function isMutedBy(mutes: ReaderMutes | undefined, action: MutableAction): boolean {
  return mutes !== undefined && isMutedAction(mutes, action);
}

/** Selects readers with mutes that may match an action. Whether one matches, and is still active, is decided afterwards. */
function mayMute(deliveries: readonly Delivered[]): Filter<FeedDocument>[] {
  const values = deliveries.flatMap(({ action: { actorId, refIds, descriptor } }) => [
    ...[actorId, ...refIds, descriptor.type],
  ]);
  return [{ 'mutes.value': { $in: [...new Set(values)] } }, { 'mutes.kind': 'PHRASE' }];
}

/** Everybody who may have a feed: members, followers, and users who have ever read. */
export function readersRepository({ members, follows, feeds }: Collections) {
  return {
    /** Whether the user is among them. One round trip, by keys. Index `pair` for follows. */
    async knows(userId: UserId): Promise<boolean> {
      const found = await Promise.all([
        members.countDocuments({ _id: userId }, { limit: 1 }),
        follows.countDocuments({ followerId: userId }, { limit: 1 }),
        feeds.countDocuments({ _id: userId }, { limit: 1 }),
      ]);
      return found.some((count) => count > 0);
    },

    /** Ids in unordered batches, possibly with duplicates. Reads these collections in full. */
    async *all(size: number): AsyncGenerator<readonly UserId[], void, undefined> {
      const cursors = [
        members.find().project<{ _id: string }>({ _id: 1 }).batchSize(size),
        follows.aggregate<{ _id: string }>([{ $group: { _id: '$followerId' } }]).batchSize(size),
        feeds.find().project<{ _id: string }>({ _id: 1 }).batchSize(size),
      ];
      for (const cursor of cursors) {
        try {
          while (await cursor.hasNext()) yield cursor.readBufferedDocuments().map(({ _id }) => _id);
        } finally {
          await cursor.close();
        }
      }
    },
  };
}
