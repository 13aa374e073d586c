import { Confirmed } from '../../storage/confirmed.ts';
import { ObjectId, type Collection } from 'mongodb';
import type { ActionId, UserId } from '../../domain/action.ts';
import { generationAt, RESCORE_EVERY_MS, GENERATIONS_KEPT } from '../../domain/ranking.ts';
import type { ScoreSlot, ActionDocument, EngagementDocument } from '../../storage/documents/documents.ts';
import { retryOnDuplicateKey } from '../../storage/database/errors.ts';
import { type Claiming, leased } from '../../storage/database/lease.ts';
import type { Collections } from '../../storage/database/mongo.ts';
import { idsOf, inOneBatch } from '../../storage/database/batches.ts';
import { putOffUntil } from '../../storage/actions/action-document.ts';
import { type Declared, ofInstallation, NAMES_NOBODY } from '../../storage/documents/declaration.ts';
import { MAX_FUTURE_MS } from '../../domain/relevancy.ts';
import { clock } from '../../lib/clock.ts';

declare module '../../storage/repositories.ts' {
  interface Repositories {
    readonly rankedActions: ReturnType<typeof rankedActionsRepository>;
    readonly rankingCache: ReturnType<typeof rankingCache>;
    readonly scores: ReturnType<typeof scoresRepository>;
  }
}

const BATCH = 500;

/** Actions and readers whose part in a ranking a process remembers; of an action some 200 bytes. */
const REMEMBERED = { actions: 50_000, readers: 10_000 } as const;

/** The fields of an action that its ranking needs: a few hundred bytes without its content. */
export interface RankedAction {
  readonly id: ActionId;
  readonly actorId: UserId;
  readonly conducted: Date;
  readonly type: string;
  readonly engagement: EngagementDocument;
  readonly counts: RankedCounts;
  /** `null`: it was not asked for. */
  readonly descriptor: RankedContent | null;
  readonly rev: number;
}

/** How many interactions of a kind an action has. */
export interface RankedCounts {
  readonly likes: number;
  readonly comments: number;
  readonly reshares: number;
  /** Of all kinds. */
  readonly reactions: number;
}

type RankedContent = ActionDocument['descriptor'];

function countsOf({ likes, comments, reshares, reactions }: EngagementDocument): RankedCounts {
  const given = Object.values(reactions ?? {}).reduce((sum, count) => sum + count, 0);
  return { likes, comments, reshares, reactions: given };
}

const FIELDS = { rev: 1, actorId: 1, conducted: 1, 'descriptor.type': 1, engagement: 1 } as const;
const CONTENT = { rev: 1, actorId: 1, conducted: 1, descriptor: 1, engagement: 1 } as const;

type Projected = Pick<ActionDocument, '_id' | 'actorId' | 'conducted' | 'engagement' | 'rev'> & {
  readonly descriptor: { readonly type: string };
};

function toRankedAction({ _id, descriptor, ...fields }: Projected): RankedAction {
  const counts = countsOf(fields.engagement);
  return { id: _id.toHexString(), type: descriptor.type, counts, descriptor: null, ...fields };
}

function withDescriptor(document: Projected & Pick<ActionDocument, 'descriptor'>): RankedAction {
  return { ...toRankedAction(document), descriptor: document.descriptor };
}

/** Reads actions for their ranking. All lookups are by `_id`. */
export function rankedActionsRepository(collection: Collection<ActionDocument>) {
  return {
    /** Unordered; missing ones are left out. One round trip. */
    async find(ids: readonly ActionId[], withContent: boolean): Promise<RankedAction[]> {
      const found = collection.find({ _id: { $in: ids.map((id) => new ObjectId(id)) } });
      if (!withContent)
        return (await inOneBatch(found.project<Projected>(FIELDS), ids.length)).map(toRankedAction);
      const whole = found.project<Projected & Pick<ActionDocument, 'descriptor'>>(CONTENT);
      return (await inOneBatch(whole, ids.length)).map(withDescriptor);
    },

    /** Unordered batches. Selects by the recording time in the ids, minus the margin by which `conducted` may be ahead. */
    async *conductedSince(since: Date): AsyncGenerator<RankedAction[], void, undefined> {
      const youngest = ObjectId.createFromTime(Math.floor((since.getTime() - MAX_FUTURE_MS) / 1_000));
      const wanted = { conducted: { $gte: since }, isDeleted: false };
      for (const place of [{ _id: { $gte: youngest } }, { ...putOffUntil(since), _id: { $lt: youngest } }]) {
        const cursor = collection
          .find({ ...place, ...wanted })
          .project<Projected>(FIELDS)
          .batchSize(BATCH);
        try {
          while (await cursor.hasNext()) yield cursor.readBufferedDocuments().map(toRankedAction);
        } finally {
          await cursor.close();
        }
      }
    },
  };
}

/** The fields of an action that decide its place in one generation. */
export interface RankedFacts extends Pick<
  RankedAction,
  'id' | 'actorId' | 'conducted' | 'type' | 'counts' | 'descriptor'
> {
  /** Its time, in milliseconds since the epoch. */
  readonly generation: number;
  /** The generation's score; absent: it has none. */
  readonly score: number | undefined;
}

/** The reader's newest interactions with actions of a member, before a generation. */
export interface Relation {
  readonly interactions: number;
  /** Those of the last 30 days. */
  readonly recent: number;
}

/** What a reader wants less of. */
export interface Taste {
  readonly actors: ReadonlySet<UserId>;
  readonly types: ReadonlySet<string>;
}

/**
 * What a process has read of complete generations, whose scores do not change: facts of actions by their revision, since an erasure
 * takes the actor; interactions of readers with the actions of others by generation; what readers want less of by the actions.
 */
export const rankingCache = () => ({
  facts: new Confirmed<RankedFacts, number>(REMEMBERED.actions),
  relations: new Confirmed<ReadonlyMap<UserId, Relation>, number>(REMEMBERED.readers),
  tastes: new Confirmed<Taste>(REMEMBERED.readers),
});

export const SCORES: Declared<'scores'> = {
  name: 'scores',
  holds: 'scores of an action of the last day',
  ids: {},
  indexes: [],
  shard: { because: 'actions of the last day, recomputed for each generation' },
  erase: NAMES_NOBODY,
  export: NAMES_NOBODY,
  action: { because: 'made again, of the last day only' },
};

export const RANKINGS = ofInstallation('rankings', 'the progress of scoring');

/** Represents the generation before the first. */
const NEVER = new Date(0);

export interface ActionScore {
  readonly actionId: ActionId;
  readonly score: number;
  /** When the generation was scored. */
  readonly counts: RankedCounts;
}

function slotOf(generation: Date): `g${number}` {
  return `g${(generation.getTime() / RESCORE_EVERY_MS) % GENERATIONS_KEPT}`;
}

/** Scores by action and generation, and the progress of scoring. All lookups are by `_id`. */
export function scoresRepository({ actions, scores, rankings }: Collections) {
  const leases = leased(rankings, 'lease');
  let latest = NEVER;
  let askAgainAt = -Infinity;

  return {
    /** The latest complete generation; `null` before the first. Asked again, once a second, when the next one is due. */
    async current(): Promise<Date | null> {
      const isDue = latest.getTime() < generationAt(clock.now()).getTime();
      if (isDue && performance.now() >= askAgainAt) {
        latest = (await rankings.findOne({ _id: 'top' }))?.generation ?? NEVER;
        askAgainAt = performance.now() + 1_000;
      }
      return latest.getTime() === NEVER.getTime() ? null : latest;
    },

    /** Scores of a generation by action; unscored actions are left out. One round trip. */
    async find(actionIds: readonly ActionId[], generation: Date): Promise<Map<ActionId, ScoreSlot>> {
      const slot = slotOf(generation);
      const documents = await inOneBatch(
        scores
          .find({ _id: { $in: actionIds.map((id) => new ObjectId(id)) } })
          .project<Record<string, ScoreSlot> & { _id: ObjectId }>({ [slot]: 1 }),
        actionIds.length,
      );
      return new Map(
        documents.flatMap((document) => {
          const found = document[slot];
          return found?.at.getTime() === generation.getTime()
            ? [[document._id.toHexString(), found] as const]
            : [];
        }),
      );
    },

    /** Writes scores of a generation. Existing scores are kept, so that two processes doing the same work agree. */
    async put(entries: readonly ActionScore[], generation: Date): Promise<void> {
      if (entries.length === 0) return;
      const slot = slotOf(generation);
      const operations = entries.map(({ actionId, score, counts }) => ({
        updateOne: {
          filter: { _id: new ObjectId(actionId) },
          update: [
            {
              $set: {
                [slot]: {
                  $cond: [
                    { $eq: [`$${slot}.at`, generation] },
                    `$${slot}`,
                    { at: generation, score, counts },
                  ],
                },
              },
            },
          ],
          upsert: true,
        },
      }));
      await retryOnDuplicateKey(() => scores.bulkWrite(operations, { ordered: false }));
    },

    /** Claims a generation; `false` if it is done or claimed. Two round trips, one when there is nothing to do. */
    async claim(generation: Date, claiming: Claiming): Promise<boolean> {
      const known = await rankings.findOne({ _id: 'top' });
      if (known !== null && known.generation.getTime() >= generation.getTime()) return false;
      const where = { generation: { $lt: generation } };
      return (await leases.take('top', claiming, { where, initial: { generation: NEVER } })) !== null;
    },

    /** Extends the lease. `false`: another process has claimed the generation. */
    renew: (token: string, until: Date) => leases.renew({ id: 'top', token }, until),

    /** Marks the generation as complete. */
    async finish(generation: Date): Promise<void> {
      await rankings.updateOne({ _id: 'top' }, { $max: { generation }, $unset: { lease: 1 } });
      latest = NEVER;
      askAgainAt = -Infinity;
    },

    /** Deletes scores of actions recorded before. Two round trips. */
    async purgeBefore(recorded: Date): Promise<void> {
      const later = await idsOf(actions.find(putOffUntil(recorded)));
      const youngest = ObjectId.createFromTime(Math.floor(recorded.getTime() / 1_000));
      await scores.deleteMany({ _id: { $lt: youngest, ...(later.length === 0 ? {} : { $nin: later }) } });
    },
  };
}
