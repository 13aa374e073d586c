import { ObjectId, type Collection, type Document } from 'mongodb';
import type { ActionDocument, FormerAudienceDocument } from '../documents/documents.ts';
import { ownedBy, isSameAudience, type Claim } from './fan-out-claim.ts';
import { NO_EVENTS, type EventEntries } from '../stages/event-entries.ts';
import { clock } from '../../lib/clock.ts';
import { revised, unrevised } from '../stages/revision.ts';
import { literal } from '../stages/literal.ts';

/**
 * How a pass ended that did not complete its fan-out: by a failure of its own, which counts as an attempt; cut off by
 * something that is not its fault, after which feeds may be written whose readers were not told; or in good order, as at
 * a shutdown, after which nothing is to be known of it.
 */
export type PassEnd = 'failed' | 'cut-off' | 'in-order';

const UNCOUNTED = {
  failed: {},
  'cut-off': { $inc: { 'fanOut.attempts': -1 } },
  'in-order': { $inc: { 'fanOut.attempts': -1, 'fanOut.begun': -1 } },
} as const satisfies Readonly<Record<PassEnd, object>>;

/** What a fan-out has only while it is not DONE. */
const OF_OPEN_FAN_OUTS = [
  'fanOut.worker',
  'fanOut.leaseUntil',
  'fanOut.checkpoint',
  'fanOut.begun',
  'fanOut.lane',
  'fanOut.nextLane',
  'fanOut.untoldVersion',
  'fanOut.restUntil',
  'fanOut.deliveredVersion',
  'fanOut.changedVersion',
  'fanOut.former',
  'fanOut.formerCutRev',
  'fanOut.toldAudience',
  'fanOut.tellsHosts',
] as const;

/** The ways in which a pass comes to its end; see `fan-outs.ts`. */
export function fanOutEnds(collection: Collection<ActionDocument>, events: EventEntries = NO_EVENTS) {
  return {
    /**
     * DONE, if the version is still the one claimed. False: the action changed meanwhile or is DONE already. Not even who
     * has lost the claim is refused: the whole audience was served, and the worker that has it now does the same work.
     */
    async finish(claim: Claim, delivered: number): Promise<boolean> {
      const result = await collection.updateOne(
        {
          _id: new ObjectId(claim.action.id),
          'fanOut.state': 'IN_PROGRESS',
          'fanOut.version': claim.version,
        },
        unrevised({
          $set: {
            'fanOut.state': 'DONE',
            'fanOut.delivered': delivered,
            'fanOut.error': null,
            'fanOut.doneAt': clock.now(),
            ...swept(claim),
          },
          $unset: Object.fromEntries(leftByNow(claim).map((field) => [field, 1])),
        }),
      );
      return result.matchedCount === 1;
    },

    /**
     * The end of a pass that delivered to its whole audience while the action changed: PENDING for the changes, in the
     * lane they were asked for. False: the claim is void.
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
              'fanOut.error': null,
              'fanOut.attempts': 0,
              ...swept(claim),
              'fanOut.former': formerSince(claim),
              'fanOut.formerCutRev': cutSince(claim),
              'fanOut.toldAudience': notifiedBy(claim, events),
              // What this pass announced counts as announced. What was counted since does not: see `moderation.ts`.
              'fanOut.begun': { $subtract: ['$fanOut.begun', claim.begun] },
              'fanOut.leaseUntil': notBefore,
              'fanOut.restUntil': notBefore,
              // What was withdrawn since is for the next pass to tell.
              'fanOut.untoldVersion': {
                $cond: [
                  { $eq: ['$fanOut.untoldVersion', claim.untoldVersion] },
                  '$$REMOVE',
                  { $ifNull: ['$fanOut.untoldVersion', '$$REMOVE'] },
                ],
              },
            },
          },
          {
            $unset: [
              ...['fanOut.worker', 'fanOut.checkpoint', 'fanOut.nextLane'],
              ...(claim.action.isHidden ? [] : ['fanOut.tellsHosts']),
            ],
          },
        ]),
      );
      return result.matchedCount === 1;
    },

    /**
     * The end for a deleted action, in place of `finish`: DONE, and nothing is left of it but a tombstone that keeps its
     * id, actor and idempotency key. False: the claim is void or the action changed meanwhile.
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
              // From now on a tombstone is found by this alone, no matter who is its actor when it is written.
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
              'isBumped',
            ],
          },
        ]),
      );
      return result.matchedCount === 1;
    },

    /**
     * Gives the claim back: PENDING from `notBefore` on, or FAILED. False when it was lost before.
     * @param outcome.ended how the pass came to its end; see `PassEnd`.
     */
    async release(
      claim: Claim,
      outcome: {
        readonly state: 'PENDING' | 'FAILED';
        readonly error: string | null;
        readonly notBefore: Date;
        readonly ended: PassEnd;
      },
    ): Promise<boolean> {
      const result = await collection.updateOne(
        ownedBy(claim),
        unrevised({
          $set: {
            'fanOut.state': outcome.state,
            'fanOut.error': outcome.error,
            'fanOut.leaseUntil': outcome.notBefore,
          },
          $unset: {
            'fanOut.worker': 1,
            ...(outcome.state === 'FAILED' ? { 'fanOut.deliveredVersion': 1 } : {}),
          },
          ...UNCOUNTED[outcome.ended],
          ...(outcome.state === 'FAILED' ? events.pushed('fanout.failed', clock.now()) : {}),
        }),
      );
      return result.matchedCount === 1;
    },

    /**
     * For a worker that has lost its claim and lives: what it has done is done, so the next claim goes on from there if
     * nobody has come further; and the attempt does not count, since it did not fail.
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

/** Nobody holds it any more to whom it was not addressed when it was claimed. */
function swept({ action }: Claim): { readonly 'fanOut.sweptRev'?: number } {
  return action.audienceRev === 0 ? {} : { 'fanOut.sweptRev': action.audienceRev };
}

/** Of what was hidden before it ever came to somebody, hosts are notified when it is shown. */
function leftByNow({ action }: Claim): readonly string[] {
  return action.isHidden
    ? OF_OPEN_FAN_OUTS.filter((field) => field !== 'fanOut.tellsHosts')
    : OF_OPEN_FAN_OUTS;
}

/**
 * An expression: of which audience hosts have been notified of everybody when the pass has come to its end. One that went on from a
 * checkpoint has passed the readers before it with an older one.
 */
function notifiedBy({ action, version }: Claim, { isOn }: Pick<EventEntries, 'isOn'>): Document | string {
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

/** An expression: to whom it was addressed before edits that came after the claim. */
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

/** An expression: the last of them that was forgotten. */
function cutSince({ action }: Claim): Document {
  const cutRev = '$fanOut.formerCutRev';
  return { $cond: [{ $gte: [{ $ifNull: [cutRev, -1] }, action.audienceRev] }, cutRev, '$$REMOVE'] };
}
