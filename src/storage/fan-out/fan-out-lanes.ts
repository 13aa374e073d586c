import type { Filter } from 'mongodb';
import type { Lane } from '../../domain/lane.ts';
import type { ActionDocument } from '../documents/documents.ts';

/**
 * Which lanes a claim is taken from: those at least as urgent, or one alone.
 *
 * In the index and in expressions lanes are compared by their names, which happen to rise with their urgency: BULK, LIVE,
 * URGENT. A range of them comes out of the index in order, the most urgent first.
 */
export type LaneRange = { readonly atLeast: Lane } | { readonly only: Lane };

export const ALL_LANES: readonly LaneRange[] = [{ atLeast: 'BULK' }];

export function laneFilter(range: LaneRange): Filter<ActionDocument> {
  return { 'fanOut.lane': 'only' in range ? range.only : { $gte: range.atLeast } };
}
