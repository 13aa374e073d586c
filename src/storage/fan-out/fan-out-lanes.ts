import type { Filter } from 'mongodb';
import type { Lane } from '../../domain/lane.ts';
import type { ActionDocument } from '../documents/documents.ts';

/**
 * Lanes to claim from: those at least as urgent as one, or a single one.
 *
 * In the index and in expressions lanes are compared by name, since their alphabetical order happens to be their urgency:
 * BULK, LIVE, URGENT. So a range of the index returns the most urgent first.
 */
export type LaneRange = { readonly atLeast: Lane } | { readonly only: Lane };

export const ALL_LANES: readonly LaneRange[] = [{ atLeast: 'BULK' }];

export function laneFilter(range: LaneRange): Filter<ActionDocument> {
  return { 'fanOut.lane': 'only' in range ? range.only : { $gte: range.atLeast } };
}
