import type { FeedOrder } from '@fanfare/client';
import type { FanfareItem } from '../item.ts';

/** Where an item stands in its list, as text: the later, the higher. Instants are all of one length. */
export type Place = string;

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
  return (order === 'RECENT' ? item.action.conducted : item.relevancy) + tieOf(item.action.id);
}
