import type { Document } from 'mongodb';
import { MAX_RESHARES, type UserId } from '../../domain/action.ts';
import type { ReshareDocument } from '../documents/documents.ts';
import { AUDIENCE_NOW, passRequested, notifiedUntilNow } from './fan-out-stages.ts';
import { formerKept } from './former-audiences.ts';
import { literal } from './literal.ts';

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
export function reshareChanged(change: ReshareChange, now: Date, events: RecordsEvents): Document {
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
