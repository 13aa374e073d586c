import { ObjectId } from 'mongodb';
import type { ActionId } from '../../domain/action.ts';
import type { Collections } from '../../storage/database/mongo.ts';
import { inOneBatch } from '../../storage/database/batches.ts';

/** An action of a group; `latest` is an upper bound of every reader's relevancy. */
export interface GroupMember {
  readonly actionId: ActionId;
  readonly latest: Date;
}

export function actionGroupsRepository({ actions }: Collections) {
  return {
    /**
     * The first members of each action's group, ordered by `latest` and id, at most `limit` per group; actions without a
     * group are left out. One round trip that transfers only ids and times. Index `groups`.
     */
    async newestOf(
      actionIds: readonly ActionId[],
      limit: number,
    ): Promise<ReadonlyMap<ActionId, readonly GroupMember[]>> {
      const cursor = actions.aggregate<{
        readonly _id: ObjectId;
        readonly members: readonly { readonly _id: ObjectId; readonly latest: Date }[];
      }>([
        { $match: { _id: { $in: actionIds.map((id) => new ObjectId(id)) }, groupKey: { $exists: true } } },
        { $project: { groupKey: 1 } },
        {
          $lookup: {
            from: actions.collectionName,
            localField: 'groupKey',
            foreignField: 'groupKey',
            as: 'members',
            pipeline: [
              { $match: { isDeleted: false, isHidden: false } },
              { $sort: { latest: -1, _id: -1 } },
              { $limit: limit },
              { $project: { latest: 1 } },
            ],
          },
        },
        { $project: { groupKey: 0 } },
      ]);
      const groups = new Map<ActionId, readonly GroupMember[]>();
      for await (const { _id, members } of cursor)
        groups.set(
          _id.toHexString(),
          members.map((member) => ({ actionId: member._id.toHexString(), latest: member.latest })),
        );
      return groups;
    },

    /** Which of the candidates share a group with these actions, by action. One round trip. Index `_id_`. */
    async sharing(
      actionIds: readonly ActionId[],
      candidates: readonly ActionId[],
    ): Promise<ReadonlyMap<ActionId, readonly ActionId[]>> {
      const ids = [...new Set([...actionIds, ...candidates])];
      const documents = await inOneBatch(
        actions
          .find({ _id: { $in: ids.map((id) => new ObjectId(id)) }, groupKey: { $exists: true } })
          .project<{ readonly _id: ObjectId; readonly groupKey: string }>({ groupKey: 1 }),
        ids.length,
      );
      const keys = new Map(documents.map(({ _id, groupKey }) => [_id.toHexString(), groupKey]));
      const byKey = new Map<string, ActionId[]>();
      for (const id of candidates) {
        const key = keys.get(id);
        if (key !== undefined) byKey.set(key, [...(byKey.get(key) ?? []), id]);
      }
      return new Map(actionIds.map((id) => [id, byKey.get(keys.get(id) ?? '') ?? []]));
    },

    /** The action with the highest `latest` in a group; `null` when the group is empty. Index `groups`. */
    async anyOf(groupKey: string): Promise<ActionId | null> {
      const [document] = await actions
        .find({ groupKey, isDeleted: false, isHidden: false })
        .sort({ latest: -1, _id: -1 })
        .project<{ readonly _id: ObjectId }>({ _id: 1 })
        .limit(1)
        .toArray();
      return document?._id.toHexString() ?? null;
    },
  };
}

export type ActionGroupsRepository = ReturnType<typeof actionGroupsRepository>;
