import type { FeedItemExplanation } from '../../src/domain/explanation.ts';
import {
  feedFor,
  isMuted,
  isSnoozed,
  maySee,
  passedOnTo,
  placeOf,
  reasonsFor,
  waysOfFollowing,
  type Model,
  type ModelAction,
  type ModelReader,
} from './model.ts';

/** An explanation in words that a person can compare. */
export interface ShownExplanation {
  readonly isInFeed: boolean;
  readonly isEntitled: boolean;
  readonly reasons: readonly string[];
  readonly follows: readonly string[];
  readonly passers: readonly string[];
  readonly withheldBy: readonly string[];
  readonly relevancy: string | null;
  readonly liftedTo: string | undefined;
  readonly isSomewhere: boolean;
}

export function shownExplanation({
  isInFeed,
  isEntitled,
  addressedBy,
  withheldBy,
  relevancy,
  causes,
  path,
}: FeedItemExplanation): ShownExplanation {
  // How a follow brings it there is not for the definition to say.
  const ways = addressedBy.map((way) => ({ ...way, reason: way.reason === 'PULL' ? 'FOLLOW' : way.reason }));
  return {
    ...{ isInFeed, isEntitled },
    reasons: [...new Set(ways.map(({ reason }) => reason))].sort(),
    follows: ways.flatMap(({ reason, via }) => (reason === 'FOLLOW' && via !== null ? [via] : [])).sort(),
    passers: ways.flatMap(({ reason, via }) => (reason === 'RESHARE' && via !== null ? [via] : [])).sort(),
    withheldBy: [...withheldBy].sort(),
    relevancy: relevancy?.toISOString() ?? null,
    liftedTo: causes[0]?.liftedTo.toISOString(),
    isSomewhere: path !== 'NONE',
  };
}

/**
 * What the definition says of an action and a reader.
 * @param isOwn the reader asks; else an admin does, who knows nothing of the reader's roles.
 */
export function expectedExplanation(
  model: Model,
  reader: ModelReader,
  action: ModelAction,
  isOwn: boolean,
): ShownExplanation {
  const asked = isOwn ? reader : { ...reader, roles: [] };
  const { userId } = reader;
  const reasons = reasonsFor(model, userId, action);
  const lifted = new Date(placeOf(model, reader, action)).toISOString();
  const withheldBy: string[] = [];
  if (action.isHidden) withheldBy.push('HIDDEN');
  if (isMuted(reader, action)) withheldBy.push('MUTED');
  if (reader.hiddenActionIds.includes(action.id)) withheldBy.push('HIDDEN_BY_READER');
  if (reader.archivedActionIds.includes(action.id)) withheldBy.push('ARCHIVED');
  if (isSnoozed(reader, action.id)) withheldBy.push('SNOOZED');
  if (reasons.length === 0) withheldBy.push('NOT_ADDRESSED');
  if (!maySee(model, asked, { ...action, isHidden: false })) withheldBy.push('NOT_ENTITLED');
  return {
    isInFeed: feedFor(model, reader).some((item) => item.action.id === action.id),
    isEntitled: maySee(model, asked, action),
    reasons: [...reasons].sort(),
    follows: waysOfFollowing(model, userId, action).sort(),
    passers: passedOnTo(model, userId, action).sort(),
    withheldBy: withheldBy.sort(),
    relevancy: reasons.length === 0 ? null : lifted,
    liftedTo: lifted,
    isSomewhere: reasons.length > 0 && !action.isHidden,
  };
}
