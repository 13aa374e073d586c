import type { Document } from 'mongodb';
import type { Engagement } from '../../domain/action.ts';
import type { InteractionKind } from '../../domain/relevancy.ts';
import { engagementDocument } from '../documents/engagement-document.ts';
import type { EventEntries } from './event-entries.ts';
import { afterLastPass, passRequested } from './fan-out-stages.ts';
import { reshareChanged, type ReshareChange } from './reshare-stages.ts';
import { literal } from './literal.ts';

export type EngagementChange =
  /** One more interaction. */
  | {
      readonly kind: 'given';
      readonly of: InteractionKind;
      readonly reaction: string | null;
      readonly at: Date;
    }
  /** Removed interactions. `lastInteraction` is the newest of the rest; `null`: unchanged. */
  | {
      readonly kind: 'taken';
      readonly of: InteractionKind;
      readonly reaction: string | null;
      readonly count: number;
      readonly lastInteraction: { readonly is: Date | null } | null;
    }
  /** The change is unknown: these are the recomputed counts. */
  | { readonly kind: 'derived'; readonly engagement: Engagement }
  /** No count has changed. */
  | { readonly kind: 'none' };

export interface InteractionMark {
  readonly change: EngagementChange;
  /** Time of the changed interaction, visible or not: it boosts the action. */
  readonly boost: Date;
  /** Change of the reshares that followers receive. Absent: none. */
  readonly reshare?: ReshareChange | null;
  readonly now: Date;
}

const COUNTERS = { COMMENT: 'comments', LIKE: 'likes', RESHARE: 'reshares' } as const;

/** Update pipeline fields that record changed interactions on their action and request a pass. */
export function interactionMarked(
  { change, boost, reshare, now }: InteractionMark,
  events: EventEntries,
): Document {
  return {
    ...engagementFields(change),
    ...(mayBeOfComment(change)
      ? { commentsVersion: { $add: [{ $ifNull: ['$commentsVersion', 0] }, 1] } }
      : {}),
    latest: { $max: ['$latest', boost] },
    isBumped: true,
    ...(reshare == null
      ? passRequested({ notBefore: afterLastPass(now), lane: 'LIVE', isBoost: true })
      : reshareChanged(reshare, now, events)),
  };
}

/** An edit changes no count, and of a change that is derived it is not known what it was. */
function mayBeOfComment(change: EngagementChange): boolean {
  return !('of' in change) || change.of === 'COMMENT';
}

function engagementFields(change: EngagementChange): Document {
  switch (change.kind) {
    case 'given':
      return {
        ...counted(change.of, change.reaction, 1),
        'engagement.lastInteraction': { $max: ['$engagement.lastInteraction', change.at] },
      };
    case 'taken':
      return {
        ...counted(change.of, change.reaction, -change.count),
        ...(change.lastInteraction === null
          ? {}
          : { 'engagement.lastInteraction': literal(change.lastInteraction.is) }),
      };
    case 'derived':
      return { engagement: literal(engagementDocument(change.engagement)) };
    case 'none':
      return {};
  }
}

function counted(kind: InteractionKind, reaction: string | null, by: number): Document {
  if (kind === 'REACTION' && reaction === null) return {};
  const counter = `engagement.${kind === 'REACTION' ? `reactions.${reaction ?? ''}` : COUNTERS[kind]}`;
  return { [counter]: { $max: [0, { $add: [{ $ifNull: [`$${counter}`, 0] }, by] }] } };
}
