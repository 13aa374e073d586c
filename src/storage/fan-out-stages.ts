import type { Document } from 'mongodb';

/**
 * How long passes of one action stay apart that lift what was there already: a burst of changes becomes a handful of
 * passes, and the first of them does not wait.
 */
export const COALESCE_MS = 250;

/**
 * An expression: now, or a while after the action's last pass if that has just ended. Clocks may differ: never later than
 * that while from now.
 */
export function afterLastPass(now: Date): Document {
  const latest = new Date(now.getTime() + COALESCE_MS);
  const apart = { $add: [{ $ifNull: ['$fanOut.doneAt', new Date(0)] }, COALESCE_MS] };
  return { $max: [now, { $min: [latest, apart] }] };
}

/**
 * Fields of an update pipeline that ask for one more pass over an action: the version rises, and the action becomes
 * PENDING unless somebody is working on it, who will find the version raised. In one write with the change it is for.
 *
 * @param notBefore when the pass may begin, or an expression that tells. A pass that is due earlier stays due earlier.
 */
export function passRequested(notBefore: Date | Document): Document {
  const isWorkedOn = { $eq: ['$fanOut.state', 'IN_PROGRESS'] };
  const isWaiting = { $eq: ['$fanOut.state', 'PENDING'] };
  return {
    'fanOut.version': { $add: ['$fanOut.version', 1] },
    'fanOut.state': { $cond: [isWorkedOn, 'IN_PROGRESS', 'PENDING'] },
    'fanOut.attempts': { $cond: [isWorkedOn, '$fanOut.attempts', 0] },
    'fanOut.leaseUntil': {
      $cond: [
        isWorkedOn,
        '$fanOut.leaseUntil',
        { $cond: [isWaiting, { $min: ['$fanOut.leaseUntil', notBefore] }, notBefore] },
      ],
    },
  };
}
