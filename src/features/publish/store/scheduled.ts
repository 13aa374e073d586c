import { ObjectId, type Document, type Filter } from 'mongodb';
import type { Action, ActionId, UserId } from '../../../domain/action.ts';
import type { Lane } from '../../../domain/lane.ts';
import { fieldBeside } from '../../../domain/stored-id.ts';
import { toAction } from '../../../storage/actions/action-document.ts';
import { inTurns, upTo } from '../../../storage/database/batches.ts';
import type { Collections } from '../../../storage/database/mongo.ts';
import type { ActionDocument } from '../../../storage/documents/documents.ts';
import { beyond, type Stretch, turned } from '../../../storage/documents/keyset.ts';
import { NO_EVENTS, type EventEntries } from '../../../storage/stages/event-entries.ts';
import { literal, revised } from '../../../storage/stages/revision.ts';

declare module '../../../storage/repositories.ts' {
  interface Repositories {
    readonly scheduled: ReturnType<typeof scheduledRepository>;
  }
}

/** The next first. */
const NEXT_FIRST = { publishAt: 1, _id: 1 } as const;

/** A scheduled action's place in the list of all of them. */
export interface ScheduledPlace {
  readonly publishAt: Date;
  readonly id: ActionId;
}

export interface ScheduledQuery extends Stretch<ScheduledPlace> {
  readonly beside: UserId;
  /** `null`: of everybody. */
  readonly actorId: UserId | null;
}

/** Actions whose time to be published has come. Index `scheduled`. */
export const isToPublish = (now: Date): Filter<ActionDocument> => ({
  // `$exists` states the partial index's condition, since not every planner infers it from `$lte`.
  publishAt: { $exists: true, $lte: now },
});

/** From how much later an action is published than the time in its id says, the id does not find it: ids have whole seconds. */
const PUT_OFF_MS = 2_000;

/** Actions that are stored and not yet published. */
export function scheduledRepository({ actions }: Collections, events: EventEntries = NO_EVENTS) {
  return {
    /** The next first. Indexes `scheduled_by`, `scheduled`. */
    async list({ beside, actorId, from, isUp, limit }: ScheduledQuery): Promise<Action[]> {
      const { publishAt, ...ties } = beyond(
        turned(NEXT_FIRST, isUp),
        from && { publishAt: from.publishAt, _id: new ObjectId(from.id) },
      );
      const documents = await inTurns(
        actions
          .find(
            {
              ...(actorId === null ? fieldBeside(beside) : { actorId }),
              publishAt: { $exists: true, ...(publishAt as object | undefined) },
              ...ties,
            },
            upTo(limit),
          )
          .sort(turned(NEXT_FIRST, isUp)),
      );
      return documents.map(toAction);
    },

    /** How many a member has, counted up to `most`. Index `scheduled_by`. */
    count: (actorId: UserId, most: number): Promise<number> =>
      actions.countDocuments({ actorId, publishAt: { $exists: true } }, { limit: most }),

    /** Those whose time has come, in order of it. Index `scheduled`. */
    async due(now: Date, limit: number): Promise<Action[]> {
      const documents = await inTurns(actions.find(isToPublish(now), upTo(limit)).sort(NEXT_FIRST));
      return documents.map(toAction);
    },

    /**
     * Publishes these actions, as they were read, in one write: each as if it had been recorded at its time. Those that were
     * changed, moved, cancelled or published meanwhile stay as they are. Returns how many were published.
     * @param inBulk actors of whom so many are due that they are delivered in the lane BULK
     */
    async publish(
      due: readonly Pick<Action, 'id' | 'rev'>[],
      now: Date,
      inBulk: readonly UserId[] = [],
    ): Promise<number> {
      const ids = due.map(({ id }) => new ObjectId(id));
      const { modifiedCount } = await actions.updateMany(
        { _id: { $in: ids }, ...isToPublish(now), rev: { $in: due.map(({ rev }) => rev) } },
        revised([{ $set: { ...published(events), ...laneOf(inBulk) } }, { $unset: 'publishAt' }]),
      );
      return modifiedCount;
    },
  };
}

function laneOf(inBulk: readonly UserId[]): Document {
  if (inBulk.length === 0) return {};
  const lane: Lane = 'BULK';
  return { 'fanOut.lane': { $cond: [{ $in: ['$actorId', literal(inBulk)] }, lane, '$fanOut.lane'] } };
}

function published(events: EventEntries): Document {
  const at = '$publishAt';
  const isPutOff = { $gt: [{ $subtract: [at, { $toDate: '$_id' }] }, PUT_OFF_MS] };
  return {
    ...{ conducted: at, recorded: at, latest: at, isDeleted: false },
    publishedAt: { $cond: [isPutOff, at, '$$REMOVE'] },
    'fanOut.leaseUntil': at,
    ...events.staged('action.published', at),
  };
}
