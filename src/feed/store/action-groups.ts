import { ObjectId, type Document } from 'mongodb';
import type { ActionId } from '../../domain/action.ts';
import type { Collections } from '../../storage/database/mongo.ts';
import { inOneBatch } from '../../storage/database/batches.ts';

/** An action of a group. */
export interface GroupMember {
  readonly actionId: ActionId;
  /** Upper bound of every reader's relevancy. */
  readonly latest: Date;
  readonly rev: number;
}

/** The first members of a group, or all, by `latest`. */
export interface FirstMembers {
  readonly members: readonly GroupMember[];
  readonly areAll: boolean;
}

interface MemberDocument {
  readonly _id: ObjectId;
  readonly groupKey: string;
  readonly latest: Date;
  readonly rev: number;
}

const MEMBER_FIELDS = { groupKey: 1, latest: 1, rev: 1 } as const;
const SHOWN = { isDeleted: false, isHidden: false } as const;

export function actionGroupsRepository({ actions }: Collections) {
  /** The first members of one group. Index `groups`. */
  const firstOf = (groupKey: string, limit: number): Document[] => [
    { $match: { groupKey, ...SHOWN } },
    { $sort: { latest: -1, _id: -1 } },
    { $limit: limit },
    { $project: MEMBER_FIELDS },
  ];

  return {
    /**
     * The first `limit` members of each group, or all. One round trip that transfers no content; two if together they have more
     * members than that. Index `groups`.
     */
    async newestOf(keys: readonly string[], limit: number): Promise<ReadonlyMap<string, FirstMembers>> {
      const most = keys.length * limit;
      const [first, ...others] = keys;
      if (first === undefined) return new Map();
      if (others.length > 0) {
        const all = await inOneBatch(
          actions
            .find({ groupKey: { $in: [...keys] }, ...SHOWN })
            .project<MemberDocument>(MEMBER_FIELDS)
            .limit(most + 1),
          most + 1,
        );
        if (all.length <= most) return byKey(all, () => true);
      }
      const from = actions.collectionName;
      const found = await inOneBatch(
        actions.aggregate<MemberDocument>([
          ...firstOf(first, limit),
          ...others.map((key) => ({ $unionWith: { coll: from, pipeline: firstOf(key, limit) } })),
        ]),
        most,
      );
      return byKey(found, ({ length }) => length < limit);
    },

    /** Those of the actions that are in one of these groups, by group. One round trip. Index `_id_`. */
    async among(
      keys: readonly string[],
      candidates: readonly ActionId[],
    ): Promise<ReadonlyMap<string, readonly ActionId[]>> {
      const documents = await inOneBatch(
        actions
          .find({ _id: { $in: candidates.map((id) => new ObjectId(id)) }, groupKey: { $in: [...keys] } })
          .project<{ readonly _id: ObjectId; readonly groupKey: string }>({ groupKey: 1 }),
        candidates.length,
      );
      const found = new Map<string, ActionId[]>();
      for (const { _id, groupKey } of documents)
        found.set(groupKey, [...(found.get(groupKey) ?? []), _id.toHexString()]);
      return found;
    },
  };
}

function byKey(
  documents: readonly MemberDocument[],
  areAll: (members: readonly GroupMember[]) => boolean,
): ReadonlyMap<string, FirstMembers> {
  const groups = new Map<string, GroupMember[]>();
  for (const { _id, groupKey, latest, rev } of documents) {
    const member = { actionId: _id.toHexString(), latest, rev };
    const members = groups.get(groupKey);
    if (members === undefined) groups.set(groupKey, [member]);
    else members.push(member);
  }
  // A union leaves its order open.
  for (const members of groups.values()) members.sort((a, b) => b.latest.getTime() - a.latest.getTime());
  return new Map(Array.from(groups, ([key, members]) => [key, { members, areAll: areAll(members) }]));
}

export type ActionGroupsRepository = ReturnType<typeof actionGroupsRepository>;
