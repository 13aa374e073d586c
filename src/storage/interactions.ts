import { ObjectId, type Collection } from 'mongodb';
import type { ActionId, Engagement, UserId } from '../domain/action.ts';
import type { InteractionGroup, InteractionKind } from '../domain/relevancy.ts';
import { clock } from '../lib/clock.ts';
import { idOfTime } from './database-time.ts';
import type { InteractionDocument } from './documents.ts';
import { isDuplicateKey } from './errors.ts';

export interface NewInteraction {
  readonly actionId: ActionId;
  /** Unique per action. */
  readonly key: string;
  readonly actorId: UserId;
  readonly departmentIds: readonly string[];
  readonly kind: InteractionKind;
  readonly at: Date;
}

/** Everything an action's interactions come to. */
export interface InteractionSummary {
  readonly engagement: Engagement;
  readonly groups: readonly InteractionGroup[];
}

interface GroupDocument {
  readonly _id: {
    readonly actionId: ObjectId;
    readonly kind: InteractionKind;
    readonly actorId: UserId;
    readonly departmentIds: string[];
  };
  readonly latest: Date;
  readonly count: number;
}

const NO_ENGAGEMENT: Engagement = { comments: 0, likes: 0, reshares: 0, lastInteraction: null };

export function interactionsRepository(collection: Collection<InteractionDocument>) {
  return {
    /** False when the key is known: the interaction was recorded before. Unique key: actionId, key. */
    async insert(interaction: NewInteraction): Promise<boolean> {
      try {
        await collection.insertOne({
          ...interaction,
          _id: idOfTime(clock.now()),
          actionId: new ObjectId(interaction.actionId),
          departmentIds: [...interaction.departmentIds],
        });
        return true;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        return false;
      }
    },

    /** Summaries of those actions that have interactions. One round trip; reads every interaction. Index `action`. */
    async summaries(actionIds: readonly ActionId[]): Promise<Map<ActionId, InteractionSummary>> {
      const summaries = new Map<ActionId, { engagement: Engagement; groups: InteractionGroup[] }>();
      if (actionIds.length === 0) return summaries;
      const cursor = collection.aggregate<GroupDocument>([
        { $match: { actionId: { $in: actionIds.map((id) => new ObjectId(id)) } } },
        {
          $group: {
            _id: {
              actionId: '$actionId',
              kind: '$kind',
              actorId: '$actorId',
              departmentIds: '$departmentIds',
            },
            latest: { $max: '$at' },
            count: { $sum: 1 },
          },
        },
      ]);
      for await (const { _id, latest, count } of cursor) {
        const { kind, actorId, departmentIds } = _id;
        const id = _id.actionId.toHexString();
        const summary = summaries.get(id) ?? { engagement: NO_ENGAGEMENT, groups: [] };
        summary.engagement = withCount(summary.engagement, kind, count, latest);
        summary.groups.push({ kind, actorId, departmentIds, latest });
        summaries.set(id, summary);
      }
      return summaries;
    },

    /**
     * The actions of somebody's newest interactions by time, one entry for each, at most `limit`, of those recorded
     * before. Index `actor`.
     */
    async newestBy(actorId: UserId, before: Date, limit: number): Promise<ActionId[]> {
      const documents = await collection
        .find({ actorId, _id: { $lt: ObjectId.createFromTime(Math.floor(before.getTime() / 1_000)) } })
        .sort({ at: -1 })
        .project<Pick<InteractionDocument, 'actionId'>>({ _id: 0, actionId: 1 })
        .limit(limit)
        .batchSize(limit)
        .toArray();
      return documents.map((document) => document.actionId.toHexString());
    },

    async purgeAction(actionId: ActionId): Promise<void> {
      await collection.deleteMany({ actionId: new ObjectId(actionId) });
    },
  };
}

export type InteractionsRepository = ReturnType<typeof interactionsRepository>;

function withCount(engagement: Engagement, kind: InteractionKind, count: number, latest: Date): Engagement {
  const { comments, likes, reshares, lastInteraction } = engagement;
  return {
    comments: comments + (kind === 'COMMENT' ? count : 0),
    likes: likes + (kind === 'LIKE' ? count : 0),
    reshares: reshares + (kind === 'RESHARE' ? count : 0),
    lastInteraction:
      lastInteraction !== null && lastInteraction.getTime() > latest.getTime() ? lastInteraction : latest,
  };
}
