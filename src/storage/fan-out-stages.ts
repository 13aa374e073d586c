import type { Document } from 'mongodb';

/**
 * Fields of an update pipeline that ask for one more pass over an action: the version rises, and the action becomes
 * PENDING unless somebody is working on it, who will find the version raised. In one write with the change it is for.
 *
 * @param notBefore when the pass may begin. A pass that is due earlier stays due earlier.
 */
export function passRequested(notBefore: Date): Document {
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
