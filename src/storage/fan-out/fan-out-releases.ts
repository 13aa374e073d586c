import { ObjectId, type Collection } from 'mongodb';
import { clock } from '../../lib/clock.ts';
import type { ActionDocument } from '../documents/documents.ts';
import { NO_EVENTS, type EventEntries } from '../stages/event-entries.ts';
import { literal } from '../stages/literal.ts';
import { unrevised } from '../stages/revision.ts';
import { isSameAudience, ownedBy, type Claim } from './fan-out-claim.ts';

/**
 * How an unfinished pass ended. `failed`: by its own failure, which counts as an attempt. `cut-off`: interrupted by
 * something else, possibly after writing to feeds without notifying readers. `in-order`: as at a shutdown, without any loose
 * ends.
 */
export type PassEnd = 'failed' | 'cut-off' | 'in-order';

const UNCOUNTED = {
  failed: {},
  'cut-off': { $inc: { 'fanOut.attempts': -1 } },
  'in-order': { $inc: { 'fanOut.attempts': -1, 'fanOut.begun': -1 } },
} as const satisfies Readonly<Record<PassEnd, object>>;

/** The ways in which a pass ends that did not serve its whole audience; see `fan-outs.ts`. */
export function fanOutReleases(collection: Collection<ActionDocument>, events: EventEntries = NO_EVENTS) {
  return {
    /**
     * Releases the claim: PENDING from `notBefore` on. `false` if it was lost before.
     * @param outcome.ended how the pass ended; see `PassEnd`.
     */
    async release(
      claim: Claim,
      outcome: { readonly error: string | null; readonly notBefore: Date; readonly ended: PassEnd },
    ): Promise<boolean> {
      const result = await collection.updateOne(
        ownedBy(claim),
        unrevised({
          $set: {
            'fanOut.state': 'PENDING',
            'fanOut.error': outcome.error,
            'fanOut.leaseUntil': outcome.notBefore,
          },
          $unset: { 'fanOut.worker': 1 },
          ...UNCOUNTED[outcome.ended],
        }),
      );
      return result.matchedCount === 1;
    },

    /**
     * Gives the fan-out up: FAILED. If the action changed since the claim, it is PENDING instead, with no attempts, as it
     * would be if the change came after the failure: nobody else runs the pass that the change requested.
     * @returns whether it is FAILED
     */
    async giveUp(
      claim: Claim,
      { error, notBefore }: { readonly error: string; readonly notBefore: Date },
    ): Promise<boolean> {
      const isChanged = { $ne: ['$fanOut.version', claim.action.fanOut.version] };
      const document = await collection.findOneAndUpdate(
        ownedBy(claim),
        unrevised([
          {
            $set: {
              'fanOut.state': { $cond: [isChanged, 'PENDING', 'FAILED'] },
              'fanOut.error': literal(error),
              'fanOut.attempts': { $cond: [isChanged, 0, '$fanOut.attempts'] },
              'fanOut.leaseUntil': notBefore,
              'fanOut.deliveredVersion': {
                $cond: [isChanged, { $ifNull: ['$fanOut.deliveredVersion', '$$REMOVE'] }, '$$REMOVE'],
              },
              ...events.staged('fanout.failed', clock.now(), { $not: [isChanged] }),
            },
          },
          { $unset: ['fanOut.worker'] },
        ]),
        { projection: { _id: 0, 'fanOut.state': 1 }, returnDocument: 'after' },
      );
      return document?.fanOut.state === 'FAILED';
    },

    /**
     * For a worker that has lost its claim but is alive: lets the next claim continue from this progress unless it has come
     * further, and does not count the attempt, which did not fail.
     */
    async keepProgress(
      claim: Claim,
      reached: { readonly afterUserId: string; readonly delivered: number } | null,
    ): Promise<void> {
      const { action, version } = claim;
      const _id = new ObjectId(action.id);
      const checkpoint = '$fanOut.checkpoint';
      const isFurther = {
        $or: [
          { $lt: [`${checkpoint}.version`, version] },
          {
            $and: [
              { $eq: [`${checkpoint}.version`, version] },
              { $lt: [`${checkpoint}.afterUserId`, literal(reached?.afterUserId ?? '')] },
            ],
          },
        ],
      };
      await collection.updateOne(
        {
          ...{ _id, ...isSameAudience(claim), 'fanOut.state': 'IN_PROGRESS' },
          ...{ isHidden: action.isHidden, isDeleted: action.isDeleted },
        },
        unrevised([
          {
            $set: {
              'fanOut.attempts': { $max: [1, { $subtract: ['$fanOut.attempts', 1] }] },
              ...(reached === null
                ? {}
                : {
                    'fanOut.checkpoint': {
                      $cond: [isFurther, literal({ version, ...reached }), checkpoint],
                    },
                  }),
            },
          },
        ]),
      );
    },
  };
}
