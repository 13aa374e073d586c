import type { Document } from 'mongodb';
import { type Engagement, MAX_RESHARES, type UserId } from '../../domain/action.ts';
import { INTERACTION_KINDS, type InteractionKind, type Lifts } from '../../domain/relevancy.ts';
import { engagementDocument, type EngagementDocument, type ReshareDocument } from '../documents/documents.ts';
import type { EventEntries } from './event-entries.ts';
import {
  afterLastPass,
  passRequested,
  AUDIENCE_NOW,
  notifiedUntilNow,
  formerKept,
} from './fan-out-stages.ts';
import { literal } from './revision.ts';

interface RecordsEvents {
  readonly isOn: boolean;
}

export type ReshareChange =
  | { readonly kind: 'given'; readonly by: UserId; readonly at: Date }
  | { readonly kind: 'taken'; readonly by: UserId };

const { reshares: RESHARES } = AUDIENCE_NOW;

/**
 * Update pipeline fields that change an action's reshares and request a pass. If a reshare stops reaching followers, reasons
 * stored for the action are not trusted any more.
 */
function reshareChanged(change: ReshareChange, now: Date, events: RecordsEvents): Document {
  const others = filtered(RESHARES, { $ne: ['$$reshare.by', literal(change.by)] });
  if (change.kind === 'taken') {
    const isLost = { $in: [literal(change.by), { $ifNull: ['$reshares.by', []] }] };
    return {
      reshares: orAbsent(others),
      ...lostIf(isLost),
      ...passRequested({ notBefore: now, lane: 'URGENT' }),
    };
  }
  const { by, at } = change;
  const all = {
    $concatArrays: [
      filtered(others, { $gt: ['$$reshare.at', at] }),
      [{ by: literal(by), at }],
      filtered(others, { $lte: ['$$reshare.at', at] }),
    ],
  };
  return {
    reshares: { $slice: [all, MAX_RESHARES] },
    ...lostIf({ $gte: [{ $size: others }, MAX_RESHARES] }),
    ...notifiedUntilNow(events),
    ...passRequested({ notBefore: now, lane: 'LIVE' }),
  };
}

/** The same for a complete list of reshares. */
export function resharesReplaced(
  reshares: readonly ReshareDocument[],
  {
    isLosing,
    now,
    events,
  }: { readonly isLosing: boolean; readonly now: Date; readonly events: RecordsEvents },
): Document {
  return {
    reshares: reshares.length === 0 ? '$$REMOVE' : literal(reshares),
    ...lostIf(literal(isLosing)),
    ...notifiedUntilNow(events),
    ...passRequested({ notBefore: now, lane: isLosing ? 'URGENT' : 'LIVE' }),
  };
}

function filtered(input: Document, cond: Document): Document {
  return { $filter: { input, as: 'reshare', cond } };
}

function orAbsent(list: Document): Document {
  return { $cond: [{ $eq: [list, []] }, '$$REMOVE', list] };
}

/**
 * Fields for an audience that shrinks: discards the checkpoint, and lets the next pass notify readers who lost the action.
 */
function lostIf(isLost: Document): Document {
  const changed = (field: string, is: unknown): Document => ({
    $cond: [isLost, is, { $ifNull: [field, '$$REMOVE'] }],
  });
  return {
    audienceRev: changed('$audienceRev', { $add: [AUDIENCE_NOW.rev, 1] }),
    'fanOut.checkpoint': changed('$fanOut.checkpoint', '$$REMOVE'),
    ...formerKept(AUDIENCE_NOW, isLost),
  };
}

export type EngagementChange =
  /** One more interaction. */
  | {
      readonly kind: 'given';
      readonly of: InteractionKind;
      readonly reaction: string | null;
      readonly at: Date;
    }
  /** Removed interactions. `lastInteraction` is the newest of the rest, unless a newer one than they has come in; `null`: unchanged. */
  | {
      readonly kind: 'taken';
      readonly of: InteractionKind;
      /** One of each, if they are of the kind REACTION. */
      readonly reactions: readonly string[];
      readonly count: number;
      readonly lastInteraction: { readonly was: Date; readonly is: Date | null } | null;
    }
  /** The change is unknown: these are the recomputed counts, at least. The pass writes the exact ones. */
  | { readonly kind: 'derived'; readonly engagement: Engagement }
  /** No count has changed. */
  | { readonly kind: 'none' };

export interface InteractionMark {
  readonly change: EngagementChange;
  /** Time of the changed interaction, visible or not: it boosts the action. */
  readonly boost: Date;
  /** Interactions that feeds may not have yet. Absent: any interactions of any kind. */
  readonly lifts?: Lifts;
  /** Change of the reshares that followers receive. Absent: none. */
  readonly reshare?: ReshareChange | null;
  readonly now: Date;
}

const COUNTERS = { COMMENT: 'comments', LIKE: 'likes', RESHARE: 'reshares' } as const;

const ANY_LIFTS: Lifts = Object.fromEntries(INTERACTION_KINDS.map((kind) => [kind, new Date(0)]));

/** Update pipeline fields that record changed interactions on their action and request a pass. */
export function interactionMarked(
  { change, boost, lifts = ANY_LIFTS, reshare, now }: InteractionMark,
  events: EventEntries,
): Document {
  return {
    ...countedFields(change, boost),
    ...(reshare == null
      ? passRequested({ notBefore: afterLastPass(now), lane: 'LIVE', lifts })
      : reshareChanged(reshare, now, events)),
  };
}

/**
 * The same where no pass is needed, because nobody is to be lifted or notified: only counts. The version is new nevertheless,
 * since what is read of interactions is kept by it.
 */
export function interactionCounted({ change, boost }: Pick<InteractionMark, 'change' | 'boost'>): Document {
  return {
    ...countedFields(change, boost),
    'fanOut.version': { $add: ['$fanOut.version', 1] },
  };
}

function countedFields(change: EngagementChange, boost: Date): Document {
  return {
    ...engagementFields(change),
    ...(mayBeOfComment(change)
      ? { commentsVersion: { $add: [{ $ifNull: ['$commentsVersion', 0] }, 1] } }
      : {}),
    latest: { $max: ['$latest', boost] },
    isBumped: true,
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
        ...(change.of === 'REACTION' ? {} : counted(change.of, null, -change.count)),
        ...Object.fromEntries<Document>(
          change.reactions.flatMap((reaction) => Object.entries<Document>(counted('REACTION', reaction, -1))),
        ),
        ...(change.lastInteraction === null
          ? {}
          : {
              'engagement.lastInteraction': {
                $cond: [
                  { $gt: ['$engagement.lastInteraction', change.lastInteraction.was] },
                  '$engagement.lastInteraction',
                  literal(change.lastInteraction.is),
                ],
              },
            }),
      };
    case 'derived':
      return raised(engagementDocument(change.engagement));
    case 'none':
      return {};
  }
}

/** Interactions counted since the counts were read stay counted. */
function raised({ reactions = {}, lastInteraction, ...counts }: EngagementDocument): Document {
  const ofReactions = Object.entries(reactions).map(([name, count]) => [`reactions.${name}`, count] as const);
  const raisedTo = [...Object.entries(counts), ...ofReactions].map(
    ([name, count]) => [`engagement.${name}`, { $max: [`$engagement.${name}`, count] }] as const,
  );
  return {
    ...Object.fromEntries<Document>(raisedTo),
    'engagement.lastInteraction': { $max: ['$engagement.lastInteraction', lastInteraction] },
  };
}

function counted(kind: InteractionKind, reaction: string | null, by: number): Document {
  if (kind === 'REACTION' && reaction === null) return {};
  const counter = `engagement.${kind === 'REACTION' ? `reactions.${reaction ?? ''}` : COUNTERS[kind]}`;
  return { [counter]: { $max: [0, { $add: [{ $ifNull: [`$${counter}`, 0] }, by] }] } };
}
