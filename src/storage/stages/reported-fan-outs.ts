import type { Filter } from 'mongodb';
import type { FanOutState } from '../../domain/action.ts';
import type { ActionDocument } from '../documents/documents.ts';

const OPEN: FanOutState[] = ['PENDING', 'IN_PROGRESS'];

/** Filter for fan-outs by the state that `reportedFanOut` reports. States other than DONE use the index `claim`. */
export function reportedAs(state: FanOutState): Filter<ActionDocument> {
  if (state === 'DONE')
    return {
      $or: [
        { 'fanOut.state': 'DONE' },
        { 'fanOut.state': { $in: OPEN }, 'fanOut.deliveredVersion': { $exists: true } },
      ],
    };
  return {
    'fanOut.state': state,
    'fanOut.leaseUntil': { $exists: true },
    ...(state === 'FAILED' ? {} : { 'fanOut.deliveredVersion': { $exists: false } }),
  };
}
