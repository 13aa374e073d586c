import { ObjectId, type Collection, type Document } from 'mongodb';
import type { ActionId } from '../../domain/action.ts';
import type { ActionDocument, FormerAudienceDocument } from '../../storage/documents/documents.ts';
import { ownedBy, type Claim } from './fan-out-claim.ts';
import { NO_EVENTS, type EventEntries } from '../../storage/stages/event-entries.ts';
import { clock } from '../../lib/clock.ts';
import { gathered } from '../../lib/gathered.ts';
import { groupsOf } from '../../lib/groups-of.ts';
import { revised, unrevised, literal } from '../../storage/stages/revision.ts';

/** Fields that exist only while a fan-out is not DONE. */
const OF_OPEN_FAN_OUTS = [
  'fanOut.worker',
  'fanOut.leaseUntil',
  'fanOut.checkpoint',
  'fanOut.begun',
  'fanOut.lane',
  'fanOut.nextLane',
  'fanOut.unnotifiedVersion',
  'fanOut.restUntil',
  'fanOut.deliveredVersion',
  'fanOut.changedVersion',
  'fanOut.lifts',
  'fanOut.nextLifts',
  'fanOut.former',
  'fanOut.formerCutRev',
  'fanOut.toldAudience',
  'fanOut.recordsHostEvents',
] as const;

export interface FinishedPass {
  readonly claim: Claim;
  readonly delivered: number;
}

/** Passes that end in the same way share a statement: that takes the database half the time. */
const endOf = ({ claim, delivered }: FinishedPass): string =>
  [claim.version, delivered, claim.action.audienceRev, claim.action.isHidden].join();

/** Calls whose passes are finished by one write. */
const CALLS_AT_ONCE = 16;

/** The ways in which a pass ends; see `fan-outs.ts`. */
export function fanOutEnds(collection: Collection<ActionDocument>, events: EventEntries = NO_EVENTS) {
  return {
    /**
     * DONE, if the version is still the one claimed. Returns the actions that are DONE as of it; the others changed
     * meanwhile. Accepted even from a worker that lost the claim: the whole audience was served, and the other worker does
     * the same work. One write, and a read if any of them is not DONE by it. Calls at the same time share them.
     */
    finish: gathered(
      async (calls: readonly (readonly FinishedPass[])[]): Promise<ReadonlySet<ActionId>> => {
        const passes = calls.flat();
        if (passes.length === 0) return new Set();
        const doneAt = clock.now();
        const { matchedCount } = await collection.bulkWrite(
          [...groupsOf(passes, endOf).values()].map((alike) => {
            const [{ claim, delivered }] = alike;
            const filter = { 'fanOut.state': 'IN_PROGRESS' as const, 'fanOut.version': claim.version };
            const update = unrevised({
              $set: {
                'fanOut.state': 'DONE' as const,
                'fanOut.delivered': delivered,
                'fanOut.error': null,
                'fanOut.doneAt': doneAt,
                ...swept(claim),
              },
              $unset: Object.fromEntries(leftByNow(claim).map((field) => [field, 1 as const])),
            });
            const $in = alike.map((pass) => new ObjectId(pass.claim.action.id));
            return $in.length === 1
              ? { updateOne: { filter: { _id: new ObjectId(claim.action.id), ...filter }, update } }
              : { updateMany: { filter: { _id: { $in }, ...filter }, update } };
          }),
          { ordered: false },
        );
        const ids = passes.map(({ claim }) => claim.action.id);
        if (matchedCount === passes.length) return new Set(ids);
        if (matchedCount === 0) return new Set();
        const found = await collection
          .find({
            _id: { $in: ids.map((id) => new ObjectId(id)) },
            'fanOut.state': 'DONE',
            'fanOut.doneAt': doneAt,
          })
          .project<{ _id: ObjectId }>({ _id: 1 })
          .toArray();
        return new Set(found.map(({ _id }) => _id.toHexString()));
      },
      { most: CALLS_AT_ONCE },
    ),

    /**
     * Ends a pass that served its whole audience while the action changed: PENDING for the changes, in their lane. `false`:
     * the claim is void.
     */
    async passOn(
      claim: Claim,
      { delivered, notBefore }: { readonly delivered: number; readonly notBefore: Date },
    ): Promise<boolean> {
      const result = await collection.updateOne(
        ownedBy(claim),
        unrevised([
          {
            $set: {
              'fanOut.state': 'PENDING',
              'fanOut.lane': { $ifNull: ['$fanOut.nextLane', '$fanOut.lane'] },
              'fanOut.delivered': delivered,
              'fanOut.deliveredVersion': {
                $cond: [{ $gt: ['$fanOut.changedVersion', claim.version] }, '$$REMOVE', claim.version],
              },
              'fanOut.changedVersion': {
                $cond: [
                  { $gt: ['$fanOut.changedVersion', claim.version] },
                  '$fanOut.changedVersion',
                  '$$REMOVE',
                ],
              },
              'fanOut.lifts': liftsSince(claim),
              'fanOut.error': null,
              'fanOut.attempts': 0,
              ...swept(claim),
              'fanOut.former': formerSince(claim),
              'fanOut.formerCutRev': cutSince(claim),
              'fanOut.toldAudience': notifiedBy(claim, events),
              // Deliveries of this pass have been announced. Claims counted since have not: see `moderation.ts`.
              'fanOut.begun': { $subtract: ['$fanOut.begun', claim.begun] },
              'fanOut.leaseUntil': notBefore,
              'fanOut.restUntil': notBefore,
              // A withdrawal since then must be announced by the next pass.
              'fanOut.unnotifiedVersion': {
                $cond: [
                  { $eq: ['$fanOut.unnotifiedVersion', claim.unnotifiedVersion] },
                  '$$REMOVE',
                  { $ifNull: ['$fanOut.unnotifiedVersion', '$$REMOVE'] },
                ],
              },
            },
          },
          {
            $unset: [
              ...['fanOut.worker', 'fanOut.checkpoint', 'fanOut.nextLane', 'fanOut.nextLifts'],
              ...(claim.action.isHidden ? [] : ['fanOut.recordsHostEvents']),
            ],
          },
        ]),
      );
      return result.matchedCount === 1;
    },

    /**
     * Ends the fan-out of a deleted action, instead of `finish`: DONE, and only a tombstone with id, actor and idempotency
     * key remains. `false`: the claim is void, or the action changed meanwhile.
     */
    async tombstone(claim: Claim): Promise<boolean> {
      const result = await collection.updateOne(
        { ...ownedBy(claim), 'fanOut.version': claim.version, isDeleted: true },
        revised([
          {
            $set: {
              'fanOut.state': 'DONE',
              'fanOut.delivered': 0,
              'fanOut.error': null,
              audience: [],
              mentions: [],
              recipients: [],
              refs: [],
              refIds: [],
              // The only field by which a tombstone is found, so it must contain the actor.
              otherIds: ['$actorId'],
              descriptor: literal({ type: claim.action.descriptor.type, tags: [] }),
              engagement: { comments: 0, likes: 0, reshares: 0, lastInteraction: null },
            },
          },
          {
            $unset: [
              ...OF_OPEN_FAN_OUTS,
              'fanOut.sweptRev',
              'names',
              'pullRefIds',
              'undecidedRefIds',
              'reshares',
              'concerned',
              'formerlyConcerned',
              'givenRefs',
              'isBumped',
              'isWithheld',
              'ruling',
              'commentsVersion',
            ],
          },
        ]),
      );
      return result.matchedCount === 1;
    },
  };
}

/** Readers outside of the audience at the claim no longer have it. */
function swept({ action }: Claim): { readonly 'fanOut.sweptRev'?: number } {
  return action.audienceRev === 0 ? {} : { 'fanOut.sweptRev': action.audienceRev };
}

/** Hosts are notified of an action hidden before its first delivery when it is shown. */
function leftByNow({ action }: Claim): readonly string[] {
  return action.isHidden
    ? OF_OPEN_FAN_OUTS.filter((field) => field !== 'fanOut.recordsHostEvents')
    : OF_OPEN_FAN_OUTS;
}

/**
 * Expression: the audience of which hosts have been notified completely when the pass ends. If the pass continued from a
 * checkpoint, earlier readers were covered by an older audience.
 */
function notifiedBy({ action, version }: Claim, { isOn }: EventEntries): Document | string {
  if (!isOn) return '$$REMOVE';
  const { audienceRev, scope, audience, mentions, recipients, refIds, pullRefIds, reshares } = action;
  const notified: FormerAudienceDocument = {
    ...{ rev: audienceRev, scope, audience: [...audience], mentions: [...mentions] },
    ...{ recipients: [...recipients], refIds: [...refIds], pullRefIds: [...pullRefIds] },
    reshares: reshares.map(({ by, at }) => ({ by, at })),
  };
  const isWhole = version === action.fanOut.version;
  return {
    $cond: [
      { $gt: ['$fanOut.changedVersion', version] },
      isWhole ? literal(notified) : { $ifNull: ['$fanOut.toldAudience', '$$REMOVE'] },
      '$$REMOVE',
    ],
  };
}

/** Expression: what has lifted the action since the claim. A pass that continued from a checkpoint is not certain of that. */
function liftsSince({ action, version }: Claim): Document {
  const field = version === action.fanOut.version ? '$fanOut.nextLifts' : '$fanOut.lifts';
  return { $ifNull: [field, '$$REMOVE'] };
}

/** Expression: audiences before edits made after the claim. */
function formerSince({ action }: Claim): Document {
  const since = {
    $filter: {
      input: { $ifNull: ['$fanOut.former', []] },
      as: 'former',
      cond: { $gte: ['$$former.rev', action.audienceRev] },
    },
  };
  return { $cond: [{ $eq: [since, []] }, '$$REMOVE', since] };
}

/** Expression: the last of them that was dropped. */
function cutSince({ action }: Claim): Document {
  const cutRev = '$fanOut.formerCutRev';
  return { $cond: [{ $gte: [{ $ifNull: [cutRev, -1] }, action.audienceRev] }, cutRev, '$$REMOVE'] };
}
