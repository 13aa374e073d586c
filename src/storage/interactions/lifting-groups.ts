import { ObjectId, type Collection } from 'mongodb';
import type { ActionId, UserId } from '../../domain/action.ts';
import type { InteractionGroup, InteractionKind } from '../../domain/relevancy.ts';
import type { InteractionDocument } from '../documents/documents.ts';

interface GroupDocument {
  readonly _id: {
    readonly actionId: ObjectId;
    readonly kind: InteractionKind;
    readonly departmentIds: string[];
    readonly actorId: UserId | null;
  };
  readonly latest: Date;
  readonly passedOn: Date | null;
}

export type LiftingGroups = ReadonlyMap<ActionId, readonly InteractionGroup[]>;

const NOBODY: LiftingGroups = new Map();
const HAS_PASSED_ON = { $ne: [{ $ifNull: ['$passedOn', null] }, null] };

/** Interactions that raise actions, grouped wherever the identity of the members does not matter. */
export function liftingGroups(collection: Collection<InteractionDocument>) {
  async function grouped(match: object, actorId: unknown): Promise<LiftingGroups> {
    const cursor = collection.aggregate<GroupDocument>([
      { $match: match },
      {
        $group: {
          _id: { actionId: '$actionId', kind: '$kind', departmentIds: '$departmentIds', actorId },
          latest: { $max: '$at' },
          passedOn: { $max: '$passedOn' },
        },
      },
    ]);
    const groups = new Map<ActionId, InteractionGroup[]>();
    for await (const { _id, latest, passedOn } of cursor) {
      const { kind, actorId: by, departmentIds } = _id;
      const id = _id.actionId.toHexString();
      const known = groups.get(id) ?? [];
      known.push({ kind, actorId: by, departmentIds, latest, ...(passedOn === null ? {} : { passedOn }) });
      groups.set(id, known);
    }
    return groups;
  }

  const among = (actionIds: readonly ActionId[]) => ({
    actionId: { $in: actionIds.map((id) => new ObjectId(id)) },
  });

  return {
    /**
     * All interactions with these actions: one document per kind and department, and one per resharer. One round trip; the
     * database reads every interaction. Index `key`.
     */
    async liftsOf(actionIds: readonly ActionId[]): Promise<LiftingGroups> {
      if (actionIds.length === 0) return NOBODY;
      return grouped(among(actionIds), { $cond: [HAS_PASSED_ON, '$actorId', null] });
    },

    /** Interactions of these members with the actions, with their identity. One round trip. Index `own`. */
    async liftsBy(actionIds: readonly ActionId[], actorIds: readonly UserId[]): Promise<LiftingGroups> {
      if (actionIds.length === 0 || actorIds.length === 0) return NOBODY;
      return grouped({ ...among(actionIds), actorId: { $in: actorIds } }, '$actorId');
    },
  };
}
