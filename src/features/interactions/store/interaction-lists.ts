import { ObjectId, type Document, type Collection } from 'mongodb';
import type { ActionId, UserId } from '../../../domain/action.ts';
import { EVERYBODY } from '../../../domain/block.ts';
import type { Interaction, InteractionId, OwnInteractions } from '../../../domain/interaction.ts';
import type { InteractionKind, InteractionGroup } from '../../../domain/relevancy.ts';
import { fieldBeside } from '../../../domain/stored-id.ts';
import { type InteractionDocument, toInteraction } from '../../../storage/documents/documents.ts';
import type { ReaderAction } from '../../../storage/documents/reader-action-id.ts';
import { inTurns, upTo } from '../../../storage/database/batches.ts';
import type { Collections } from '../../../storage/database/mongo.ts';
import { beyond, type Stretch, turned } from '../../../storage/documents/keyset.ts';

interface GroupDocument {
  readonly _id: {
    readonly actionId: ObjectId;
    readonly kind: InteractionKind;
    readonly departmentIds: string[];
    readonly actorId: UserId | null;
    readonly notFor: string[] | null;
  };
  readonly latest: Date;
  readonly passedOn: Date | null;
}

type LiftingGroups = ReadonlyMap<ActionId, readonly InteractionGroup[]>;

const NOBODY: LiftingGroups = new Map();
/** For each reader it is asked whether it changes nothing for them. */
const IS_ASKED_ABOUT = { $in: [EVERYBODY, { $ifNull: ['$notFor', []] }] };
const HAS_PASSED_ON = { $ne: [{ $ifNull: ['$passedOn', null] }, null] };

/** Interactions that raise actions, grouped wherever the identity of the members does not matter. */
export function liftingGroups(collection: Collection<InteractionDocument>) {
  async function grouped(match: object, actorId: unknown): Promise<LiftingGroups> {
    const cursor = collection.aggregate<GroupDocument>([
      { $match: match },
      {
        $group: {
          _id: {
            ...{ actionId: '$actionId', kind: '$kind', departmentIds: '$departmentIds', actorId },
            notFor: { $ifNull: ['$notFor', null] },
          },
          latest: { $max: '$at' },
          passedOn: { $max: '$passedOn' },
        },
      },
    ]);
    const groups = new Map<ActionId, InteractionGroup[]>();
    for await (const { _id, latest, passedOn } of cursor) {
      const { kind, actorId: by, departmentIds, notFor } = _id;
      const id = _id.actionId.toHexString();
      const known = groups.get(id) ?? [];
      known.push({
        ...{ kind, actorId: by, departmentIds, latest },
        ...(passedOn === null ? {} : { passedOn }),
        ...(notFor === null ? {} : { notFor }),
      });
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
      return grouped(among(actionIds), {
        $cond: [{ $or: [HAS_PASSED_ON, IS_ASKED_ABOUT] }, '$actorId', null],
      });
    },

    /** Interactions of these members with the actions, with their identity. One round trip. Index `own`. */
    async liftsBy(actionIds: readonly ActionId[], actorIds: readonly UserId[]): Promise<LiftingGroups> {
      if (actionIds.length === 0 || actorIds.length === 0) return NOBODY;
      return grouped({ ...among(actionIds), actorId: { $in: actorIds } }, '$actorId');
    },
  };
}

export interface InteractionPosition {
  readonly at: Date;
  readonly id: InteractionId;
}

export interface InteractionQuery extends Stretch<InteractionPosition> {
  readonly kinds: readonly InteractionKind[];
  /** Replies to this comment; `null`: only top-level ones; absent: both. */
  readonly parentId?: InteractionId | null;
  /** For admins. */
  readonly withHidden: boolean;
}

/** In the index, each kind and state is a separate range, newest first. */
const STATES = { VISIBLE: null, HIDDEN: 'HIDDEN' } as const;
const NEWEST_FIRST = { at: -1, _id: -1 } as const;

export function interactionLists({ actions, interactions }: Collections) {
  /** Reads at most `limit` per action, kind and state. */
  async function ofActions(actionIds: readonly ObjectId[], query: InteractionQuery): Promise<Interaction[]> {
    const stretches = query.kinds.flatMap((kind) => statesOf(query).map((state) => ({ kind, state })));
    const cursor = actions.aggregate<Readonly<Record<string, InteractionDocument[]>>>([
      { $match: { _id: { $in: actionIds } } },
      { $project: { _id: 1 } },
      ...stretches.map(({ kind, state }) => ({
        $lookup: {
          from: interactions.collectionName,
          localField: '_id',
          foreignField: 'actionId',
          as: `${kind}_${state}`,
          pipeline: [
            {
              $match: {
                kind,
                state: STATES[state],
                ...following(query),
                ...(query.parentId === null ? { parentId: null } : {}),
              },
            },
            { $sort: turned(NEWEST_FIRST, query.isUp) },
            { $limit: query.limit },
          ],
        },
      })),
      { $project: { _id: 0 } },
    ]);
    const found: Interaction[] = [];
    for (const lists of await inTurns(cursor)) found.push(...Object.values(lists).flat().map(toInteraction));
    return found;
  }

  async function ofComment(
    parentId: InteractionId,
    actionIds: readonly ObjectId[],
    query: InteractionQuery,
  ): Promise<Interaction[]> {
    const stretches = await Promise.all(
      statesOf(query).map((state) => {
        const filter: Document = {
          ...{ parentId: new ObjectId(parentId), state: STATES[state] },
          ...{ actionId: { $in: actionIds }, kind: { $in: [...query.kinds] } },
          ...following(query),
        };
        return inTurns(interactions.find(filter).sort(turned(NEWEST_FIRST, query.isUp)).limit(query.limit));
      }),
    );
    return stretches.flat().map(toInteraction);
  }

  return {
    /**
     * The first interactions of each action, newest first; actions without any are left out. One round trip. Index `list`;
     * for replies `replies` or `list`, as the planner chooses.
     */
    async newestOf(
      actionIds: readonly ActionId[],
      query: InteractionQuery,
    ): Promise<Map<ActionId, Interaction[]>> {
      const lists = new Map<ActionId, Interaction[]>();
      if (query.kinds.length === 0) return lists;
      const ids = actionIds.map((id) => new ObjectId(id));
      const found =
        query.parentId == null ? await ofActions(ids, query) : await ofComment(query.parentId, ids, query);
      const way = query.isUp ? -1 : 1;
      for (const interaction of found.sort((a, b) => way * compareNewest(a, b))) {
        const list = lists.get(interaction.actionId) ?? [];
        if (list.length < query.limit) list.push(interaction);
        lists.set(interaction.actionId, list);
      }
      return lists;
    },

    /** Visible interactions of these members with these actions. One round trip. Index `own`. */
    async own(pairs: readonly ReaderAction[]): Promise<(OwnInteractions & ReaderAction)[]> {
      const groups = await interactions
        .aggregate<OwnGroup>([
          {
            $match: {
              actorId: { $in: [...new Set(pairs.map(({ userId }) => userId))] },
              actionId: {
                $in: [...new Set(pairs.map(({ actionId }) => actionId))].map((id) => new ObjectId(id)),
              },
              state: null,
            },
          },
          {
            $group: {
              _id: { actorId: '$actorId', actionId: '$actionId' },
              kinds: { $addToSet: '$kind' },
              reactions: { $addToSet: '$reaction' },
            },
          },
        ])
        .toArray();
      return groups.map(({ _id, kinds, reactions }) => ({
        userId: _id.actorId,
        actionId: _id.actionId.toHexString(),
        kinds: new Set(kinds),
        reactions: reactions.filter((reaction) => reaction != null).sort(),
      }));
    },

    /** Interactions with a text, most recently recorded first. Index `texts`. */
    async latestTexts(
      beside: UserId,
      { from, isUp, limit }: Stretch<{ readonly id: InteractionId }>,
    ): Promise<Interaction[]> {
      const order = turned({ _id: -1 }, isUp);
      const documents = await interactions
        .find(
          {
            ...fieldBeside(beside),
            text: { $exists: true },
            ...beyond(order, from && { _id: new ObjectId(from.id) }),
          },
          upTo(limit),
        )
        .sort(order)
        .toArray();
      return documents.map(toInteraction);
    },
  };
}

interface OwnGroup {
  readonly _id: { readonly actorId: UserId; readonly actionId: ObjectId };
  readonly kinds: readonly InteractionKind[];
  readonly reactions: readonly (string | null)[];
}

function statesOf({ withHidden }: InteractionQuery): readonly (keyof typeof STATES)[] {
  return withHidden ? ['VISIBLE', 'HIDDEN'] : ['VISIBLE'];
}

function following({ from, isUp }: InteractionQuery): Document {
  return beyond(turned(NEWEST_FIRST, isUp), from && { at: from.at, _id: new ObjectId(from.id) });
}

/** List order: negative when `a` comes before `b`. */
function compareNewest(a: Interaction, b: Interaction): number {
  return b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1);
}
