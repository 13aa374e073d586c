import type { FeedOrder } from '@fanfare/client';
import type { FanfareItem } from '../item.ts';

/** Where an item stands in its list. */
export interface Place {
  readonly at: string;
  readonly tie: string;
}

/** The server compares the hexadecimal ids of actions, which are inside their global ids. */
function tieOf(actionId: string): string {
  try {
    return atob(actionId);
  } catch {
    return actionId;
  }
}

/** Null in the order TOP: scores are not sent, so only the server can place. */
export function placeOf(item: FanfareItem, order: FeedOrder): Place | null {
  if (order === 'TOP') return null;
  return { at: order === 'RECENT' ? item.action.conducted : item.relevancy, tie: tieOf(item.action.id) };
}

/** Negative where `a` stands above `b`. */
export function comparePlaces(a: Place, b: Place): number {
  if (a.at !== b.at) return a.at > b.at ? -1 : 1;
  if (a.tie !== b.tie) return a.tie > b.tie ? -1 : 1;
  return 0;
}
