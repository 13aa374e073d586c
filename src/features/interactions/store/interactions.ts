import { ObjectId, type Document, type Filter } from 'mongodb';
import {
  MAX_RESHARES,
  type ActionId,
  type Engagement,
  type Reshare,
  type UserId,
} from '../../../domain/action.ts';
import type { InteractionGroup, InteractionKind } from '../../../domain/relevancy.ts';
import {
  type InteractionDocument,
  reactionCounts,
  toInteraction,
} from '../../../storage/documents/documents.ts';
import { gathered } from '../../../lib/gathered.ts';
import { mayBeOfOne } from '../../../storage/database/errors.ts';
import { NO_EVENTS, type EventEntries } from '../../../storage/stages/event-entries.ts';
import { rescueEvents } from '../../events/store/event-outbox.ts';
import { interactionLists, liftingGroups } from './interaction-lists.ts';
import { interactionRecords } from './interaction-records.ts';
import type { Collections } from '../../../storage/database/mongo.ts';
import { type Declared, index, indexWithin, UNSENT } from '../../../storage/documents/declaration.ts';
import type { ErasureSubject } from '../../../domain/erasure.ts';

declare module '../../../storage/repositories.ts' {
  interface Repositories {
    readonly interactions: ReturnType<typeof interactionsRepository>;
  }
}

export const INTERACTIONS: Declared<'interactions'> = {
  name: 'interactions',
  holds: 'a comment, like, reshare or reaction',
  ids: {
    member: ['actorId', 'unlogged[].by', 'mentions[]', 'to[]', 'replyTo', 'ownerId'],
    group: ['departmentIds[]'],
  },
  indexes: [
    index('key', { actionId: 1, key: 1 }, 'an interaction is recorded once; counts and boosts of an action', {
      unique: true,
    }),
    index(
      'list',
      { actionId: 1, kind: 1, state: 1, at: -1, _id: -1 },
      'interactions of an action, newest first',
    ),
    index('replies', { parentId: 1, state: 1, at: -1, _id: -1 }, 'replies to a comment, newest first', {
      partialFilterExpression: { parentId: { $exists: true } },
    }),
    index(
      'to',
      { to: 1, shownAt: -1 },
      'notifications: replies to a member and comments that mention them; erasure',
      {
        partialFilterExpression: { to: { $exists: true } },
      },
    ),
    index(
      'mentioning',
      { mentions: 1, actionId: 1, state: 1, shownAt: -1, _id: -1 },
      'notifications: comments on an action that mention a member, newest first',
      { partialFilterExpression: { mentions: { $exists: true } } },
    ),
    index(
      'replying',
      { replyTo: 1, actionId: 1, state: 1, shownAt: -1, _id: -1 },
      'notifications: replies to a member on an action, newest first',
      { partialFilterExpression: { replyTo: { $exists: true } } },
    ),
    index(
      'owned',
      { ownerId: 1, shownAt: -1 },
      'notifications: what others did with the actions of a member, newest first; erasure',
      { partialFilterExpression: { ownerId: { $exists: true } } },
    ),
    index('passed_on', { actorId: 1, passedOn: -1 }, 'follow: what a member has passed on since', {
      partialFilterExpression: { passedOn: { $exists: true } },
    }),
    index(
      'own',
      { actorId: 1, actionId: 1, kind: 1 },
      'what somebody did with these actions; to take it back',
    ),
    index('texts', { _id: -1, at: 1 }, 'admin: newest texts, to moderate', {
      partialFilterExpression: { text: { $exists: true } },
    }),
    index('unsettled', { settling: 1 }, 'upkeep: changes that were cut off', {
      partialFilterExpression: { settling: { $exists: true } },
    }),
    index(
      'actor',
      { actorId: 1, at: -1 },
      'ranking: whose actions somebody interacts with; erasure and export: interactions by somebody',
    ),
    UNSENT,
    indexWithin('texts', { _id: -1 }, 'admin: newest texts, to moderate', {
      partialFilterExpression: { text: { $exists: true } },
    }),
  ],
  shard: { key: { actionId: 1 }, serves: 'the interactions of an action, and their counts' },
  erase: ['INTERACTIONS'],
  export: [
    {
      section: 'interactions',
      of: 'actorId',
      sort: { at: 1 },
      entry: (document) => {
        const { key, departmentIds } = document;
        // The list of members reached would tell who blocks the author.
        const { to: _to, ...interaction } = toInteraction(document);
        return { ...interaction, key, departmentIds };
      },
    },
  ],
  action: { id: 'actionId', purge: purgeInteractions, erased: erasedInteraction },
};

function erasedInteraction(
  document: InteractionDocument,
  { memberId, pseudonym }: ErasureSubject,
): InteractionDocument {
  const isOther = (userId: string): boolean => userId !== memberId;
  const { mentions, to, replyTo, ownerId, ...others } = document;
  const concerning = {
    ...(ownerId === undefined || ownerId === memberId ? {} : { ownerId }),
    ...(mentions === undefined ? {} : { mentions: mentions.filter(isOther) }),
    ...(to === undefined ? {} : { to: to.filter(isOther) }),
    ...(replyTo === undefined || replyTo === memberId ? {} : { replyTo }),
  };
  if (document.actorId !== memberId) return { ...others, ...concerning };
  const { text: _text, data: _data, replayKeys: _replayKeys, ...rest } = { ...others, ...concerning };
  return { ...rest, actorId: pseudonym, key: document._id.toHexString() };
}

/** Events that hosts have not received yet are moved elsewhere first. */
async function purgeInteractions(
  collections: Collections,
  filter: Filter<Document>,
  recordsEvents: boolean,
): Promise<void> {
  const { interactions } = collections;
  if (!recordsEvents) {
    await interactions.deleteMany(filter);
    return;
  }
  do await interactions.deleteMany({ ...filter, unsentAt: { $exists: false } });
  while ((await rescueEvents(collections, filter)) > 0);
}

export interface InteractionSummary {
  /** The counts of visible interactions. */
  readonly engagement: Engagement;
  /** The groups of all interactions, including removed ones: boosts are permanent. */
  readonly groups: readonly InteractionGroup[];
  /** Time of the newest of them. */
  readonly latest: Date;
  /** The newest visible reshares for followers, newest first; at most 100. */
  readonly reshares: readonly Reshare[];
  /** When the newest change began that its action may not have been marked with yet. `null`: it has been with all. */
  readonly unsettledSince: Date | null;
}

interface GroupDocument {
  readonly _id: {
    readonly actionId: ObjectId;
    readonly kind: InteractionKind;
    readonly reaction: string | null;
    readonly actorId: UserId;
    readonly departmentIds: string[];
    readonly notFor: string[] | null;
  };
  readonly latest: Date;
  readonly latestVisible: Date | null;
  readonly passedOn: Date | null;
  readonly visible: number;
  readonly settling: ObjectId | null;
}

const IS_VISIBLE = { $eq: [{ $ifNull: ['$state', null] }, null] };

export interface PassedOn extends Reshare {
  readonly actionId: ActionId;
}

const PASSED_ON_BATCH = 500;
const SUMMARIES_AT_ONCE = 64;

export function interactionsRepository(collections: Collections, events: EventEntries = NO_EVENTS) {
  const { interactions: collection } = collections;

  /** Summaries of those actions that have interactions. One round trip; reads every interaction. Index `key`. */
  async function summaries(actionIds: readonly ActionId[]): Promise<Map<ActionId, InteractionSummary>> {
    if (actionIds.length === 0) return new Map();
    const cursor = collection.aggregate<GroupDocument>([
      { $match: { actionId: { $in: actionIds.map((id) => new ObjectId(id)) } } },
      {
        $group: {
          _id: {
            actionId: '$actionId',
            kind: '$kind',
            reaction: { $ifNull: ['$reaction', null] },
            actorId: '$actorId',
            departmentIds: '$departmentIds',
            notFor: { $ifNull: ['$notFor', null] },
          },
          latest: { $max: '$at' },
          latestVisible: { $max: { $cond: [IS_VISIBLE, '$at', null] } },
          passedOn: { $max: '$passedOn' },
          visible: { $sum: { $cond: [IS_VISIBLE, 1, 0] } },
          settling: { $max: '$settling' },
        },
      },
    ]);
    const sums = new Map<ActionId, Sum>();
    for await (const group of cursor) {
      const id = group._id.actionId.toHexString();
      const sum = sums.get(id) ?? new Sum();
      sum.add(group);
      sums.set(id, sum);
    }
    return new Map(Array.from(sums, ([id, sum]) => [id, sum.summary()]));
  }

  const summariesOf = gathered(summaries, { most: SUMMARIES_AT_ONCE, mayBeOfOne });

  return {
    ...interactionRecords(collections, events),
    ...interactionLists(collections),
    ...liftingGroups(collection),

    summaries,

    /** The same of one action. One round trip for calls at the same time. */
    summary: async (actionId: ActionId) => (await summariesOf(actionId)).get(actionId),

    /**
     * Actions of a member's newest interactions by time, without duplicates, at most `limit`; only interactions recorded
     * before a time and visible then. Index `actor`.
     */
    async newestBy(
      actorId: UserId,
      before: Date,
      limit: number,
    ): Promise<{ actionId: ActionId; at: Date }[]> {
      const documents = await collection
        .find({
          actorId,
          _id: { $lt: ObjectId.createFromTime(Math.floor(before.getTime() / 1_000)) },
          // Interactions whose state changed later were in the other state at that time.
          $or: [
            { state: { $exists: false }, stateAt: { $not: { $gte: before } } },
            { state: { $exists: true }, stateAt: { $gte: before } },
          ],
        })
        .sort({ at: -1 })
        .project<{ actionId: ObjectId; at: Date }>({ _id: 0, actionId: 1, at: 1 })
        .limit(limit)
        .batchSize(limit)
        .toArray();
      return documents.map(({ actionId, at }) => ({ actionId: actionId.toHexString(), at }));
    },

    /**
     * Reshares of these members since then, visible or not, in batches. Index `passed_on`.
     */
    async *passedOnBy(actorIds: readonly UserId[], since: Date): AsyncGenerator<PassedOn[], void, undefined> {
      const cursor = collection
        .find({ actorId: { $in: [...actorIds] }, passedOn: { $exists: true, $gte: since } })
        .project<Required<Pick<InteractionDocument, 'actionId' | 'actorId' | 'passedOn'>>>({
          ...{ _id: 0, actionId: 1, actorId: 1, passedOn: 1 },
        })
        .batchSize(PASSED_ON_BATCH);
      try {
        let batch: PassedOn[] = [];
        for await (const { actionId, actorId: by, passedOn: at } of cursor) {
          batch.push({ actionId: actionId.toHexString(), by, at });
          if (batch.length === PASSED_ON_BATCH) {
            yield batch;
            batch = [];
          }
        }
        if (batch.length > 0) yield batch;
      } finally {
        await cursor.close();
      }
    },

    /** Members whom interactions with the action concern besides its actor. Index `key`. */
    async concernedBy(actionId: ActionId): Promise<UserId[]> {
      const filter = { actionId: new ObjectId(actionId), to: { $exists: true } };
      return (await collection.distinct('to', filter)).filter((userId) => userId !== undefined);
    },

    purgeAction(actionId: ActionId): Promise<void> {
      return purgeInteractions(collections, { actionId: new ObjectId(actionId) }, events.isOn);
    },
  };
}

export type InteractionsRepository = ReturnType<typeof interactionsRepository>;

class Sum {
  readonly #counts: Record<InteractionKind, number> = { COMMENT: 0, LIKE: 0, RESHARE: 0, REACTION: 0 };
  readonly #reactions = new Map<string, number>();
  readonly #groups: InteractionGroup[] = [];
  readonly #reshares: Reshare[] = [];
  #latest = new Date(0);
  #latestVisible: Date | null = null;
  #unsettledSince: Date | null = null;

  add({ _id, latest, latestVisible, passedOn, visible, settling }: GroupDocument): void {
    const { kind, reaction, actorId, departmentIds, notFor } = _id;
    this.#counts[kind] += visible;
    if (reaction !== null) this.#reactions.set(reaction, (this.#reactions.get(reaction) ?? 0) + visible);
    this.#groups.push({
      ...{ kind, actorId, departmentIds, latest },
      ...(passedOn === null ? {} : { passedOn }),
      ...(notFor === null ? {} : { notFor }),
    });
    if (passedOn !== null && visible > 0) this.#reshares.push({ by: actorId, at: passedOn });
    if (latest > this.#latest) this.#latest = latest;
    if (latestVisible !== null && (this.#latestVisible === null || latestVisible > this.#latestVisible))
      this.#latestVisible = latestVisible;
    const since = settling?.getTimestamp() ?? null;
    if (since !== null && (this.#unsettledSince === null || since > this.#unsettledSince))
      this.#unsettledSince = since;
  }

  summary(): InteractionSummary {
    const { COMMENT: comments, LIKE: likes, RESHARE: reshares } = this.#counts;
    const reactions = reactionCounts(this.#reactions);
    return {
      engagement: { comments, likes, reshares, reactions, lastInteraction: this.#latestVisible },
      groups: this.#groups,
      latest: this.#latest,
      reshares: this.#reshares
        .sort((a, b) => b.at.getTime() - a.at.getTime() || (a.by < b.by ? 1 : -1))
        .slice(0, MAX_RESHARES),
      unsettledSince: this.#unsettledSince,
    };
  }
}
