import { Confirmed } from '../../storage/confirmed.ts';
import { ObjectId, type Document, type Filter } from 'mongodb';
import type { ActionId } from '../../domain/action.ts';
import type { ActionDocument } from '../../storage/documents/documents.ts';
import type { Collections } from '../../storage/database/mongo.ts';
import { inOneBatch } from '../../storage/database/batches.ts';

declare module '../../storage/repositories.ts' {
  interface Repositories {
    readonly actionGroups: ReturnType<typeof actionGroupsRepository>;
  }
}

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

type MembersByKey = ReadonlyMap<string, FirstMembers>;
type KnownAction = Pick<ActionDocument, '_id' | 'groupKey' | 'rev'>;
type MemberDocument = KnownAction & { readonly groupKey: string; readonly latest: Date };

/** Actions of which a process remembers the group, of some 150 bytes each. */
const REMEMBERED = 50_000;

const MEMBER_FIELDS = { groupKey: 1, latest: 1, rev: 1 } as const;
const SHOWN = { isDeleted: false, isHidden: false } as const;

export function actionGroupsRepository({ actions }: Collections) {
  const known = new Confirmed<KnownAction, number>(REMEMBERED);

  /** The first members of one group. Index `groups`. */
  const firstOf = (groupKey: string, limit: number, shown: Filter<ActionDocument>): Document[] => [
    { $match: { groupKey, ...shown } },
    { $sort: { latest: -1, _id: -1 } },
    { $limit: limit },
    { $project: MEMBER_FIELDS },
  ];

  return {
    /**
     * The first `limit` members of each group, or all. One round trip that transfers no content; two if together they have more
     * members than that. Index `groups`.
     * @param upTo leaves out what was conducted later
     */
    async newestOf(keys: readonly string[], limit: number, upTo: Date | null): Promise<MembersByKey> {
      const shown = { ...SHOWN, ...(upTo === null ? {} : { conducted: { $lte: upTo } }) };
      const most = keys.length * limit;
      const [first, ...others] = keys;
      if (first === undefined) return new Map();
      if (others.length > 0) {
        const all = await inOneBatch(
          actions
            .find({ groupKey: { $in: [...keys] }, ...shown })
            .project<MemberDocument>(MEMBER_FIELDS)
            .limit(most + 1),
          most + 1,
        );
        if (all.length <= most) return byKey(all, () => true);
      }
      const from = actions.collectionName;
      const found = await inOneBatch(
        actions.aggregate<MemberDocument>([
          ...firstOf(first, limit, shown),
          ...others.map((key) => ({ $unionWith: { coll: from, pipeline: firstOf(key, limit, shown) } })),
        ]),
        most,
      );
      return byKey(found, ({ length }) => length < limit);
    },

    /** The groups of the actions that are in one. One round trip, none for revisions that the process knows. Index `_id_`. */
    async keysOf(
      wanted: readonly { readonly actionId: ActionId; readonly rev?: number }[],
    ): Promise<ReadonlyMap<ActionId, string>> {
      const keys = new Map<ActionId, string>();
      const unknown: ObjectId[] = [];
      for (const { actionId, rev } of wanted) {
        const action = rev === undefined ? null : known.find(actionId, rev);
        if (action === null) unknown.push(new ObjectId(actionId));
        else if (action.groupKey !== undefined) keys.set(actionId, action.groupKey);
      }
      if (unknown.length === 0) return keys;
      const read = actions.find({ _id: { $in: unknown } }).project<KnownAction>({ groupKey: 1, rev: 1 });
      for (const action of await inOneBatch(read, unknown.length)) {
        const id = action._id.toHexString();
        known.keep(id, action.rev, action);
        if (action.groupKey !== undefined) keys.set(id, action.groupKey);
      }
      return keys;
    },
  };
}

function byKey(
  documents: readonly MemberDocument[],
  areAll: (members: readonly GroupMember[]) => boolean,
): MembersByKey {
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
