import type { FeedItemExplanation } from '../../src/domain/explanation.ts';
import {
  isApart,
  baseOf,
  feedFor,
  isMuted,
  isSnoozed,
  boostsFor,
  isBlocked,
  maySee,
  placeOf,
  reasonsFor,
  waysOfFollowing,
  waysOfPassing,
  type Model,
  type ModelAction,
  type ModelBoost,
  type ModelReader,
  type ModelWay,
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
  /** What lifts it: kind, time and where to. */
  readonly causes: readonly string[];
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
    follows: ways.flatMap((way) => (way.reason === 'FOLLOW' ? [shownWay(way)] : [])).sort(),
    passers: ways.flatMap((way) => (way.reason === 'RESHARE' ? [shownWay(way)] : [])).sort(),
    withheldBy: [...withheldBy].sort(),
    relevancy: relevancy?.toISOString() ?? null,
    causes: causes.map(shownCause),
    isSomewhere: path !== 'NONE',
  };
}

function shownWay({ via, since, until }: FeedItemExplanation['addressedBy'][number]): string {
  return `${String(via)} from ${since?.toISOString() ?? 'ever'} to ${until?.toISOString() ?? 'now'}`;
}

function expectedWay({ via, span: { since, until } }: ModelWay): string {
  const ends = until === null ? null : new Date(until);
  return shownWay({ reason: 'FOLLOW', via, since: new Date(since), until: ends });
}

type Cause = FeedItemExplanation['causes'][number];

function shownCause({ kind, at, liftedTo }: Cause): string {
  return `${kind} of ${at.toISOString()} to ${liftedTo.toISOString()}`;
}

/** What lifts highest comes first, and where it stands without comes last. */
function causesFor(model: Model, reader: ModelReader, action: ModelAction): string[] {
  // Of what somebody does again and again the newest stands for all of it, by the departments they were in.
  const newest = new Map<string, ModelBoost>();
  for (const boost of boostsFor(model, reader.userId, action)) {
    const { kind, reaction, actorId, departmentIds, at } = boost.by;
    const key = JSON.stringify([kind, reaction, actorId, departmentIds]);
    if (at >= (newest.get(key)?.by.at ?? -Infinity)) newest.set(key, boost);
  }
  const causes: Cause[] = Array.from(newest.values(), ({ by, isPassedOn, to }) => ({
    kind: isPassedOn ? 'RESHARED_BY_FOLLOWED' : by.kind,
    ...{ at: new Date(by.at), liftedTo: new Date(to) },
  }));
  const base = baseOf(action);
  const until = reader.snoozed.get(action.id);
  if (until !== undefined && until > base && !isSnoozed(reader, action.id))
    causes.push({ kind: 'SNOOZE_ENDED', at: new Date(until), liftedTo: new Date(until) });
  causes.sort((a, b) => b.liftedTo.getTime() - a.liftedTo.getTime() || b.at.getTime() - a.at.getTime());
  causes.push({ kind: 'CONDUCTED', at: new Date(action.conducted), liftedTo: new Date(base) });
  return causes.map(shownCause);
}

/**
 * What the definition says of an action and a reader.
 * @param isOwn the reader asks; else an admin does, who knows nothing of the reader's roles.
 */
export function expectedExplanation(
  whole: Model,
  reader: ModelReader,
  action: ModelAction,
  isOwn: boolean,
): ShownExplanation {
  const asked = isOwn ? reader : { ...reader, roles: [] };
  const { userId } = reader;
  // Also where the model looks the reader up.
  const model = { ...whole, readers: whole.readers.map((one) => (one === reader ? asked : one)) };
  // Then the action comes to the reader in no way.
  const isKept = isBlocked(model, asked, action.actorId);
  const reasons = isKept ? [] : reasonsFor(model, userId, action);
  const lifted = new Date(placeOf(model, reader, action)).toISOString();
  const withheldBy: string[] = [];
  if (action.isHidden) withheldBy.push('HIDDEN');
  if (isMuted(reader, action)) withheldBy.push('MUTED');
  if (isKept) withheldBy.push('BLOCKED');
  if (reader.hiddenActionIds.includes(action.id)) withheldBy.push('HIDDEN_BY_READER');
  if (reader.archivedActionIds.includes(action.id)) withheldBy.push('ARCHIVED');
  if (isSnoozed(reader, action.id)) withheldBy.push('SNOOZED');
  if (isApart(model, reader, { action, reasons })) withheldBy.push('IN_EXCLUSIVE_LIST');
  if (reasons.length === 0) withheldBy.push('NOT_ADDRESSED');
  if (!maySee(model, asked, { ...action, isHidden: false })) withheldBy.push('NOT_ENTITLED');
  return {
    isInFeed: !isKept && feedFor(model, asked).some((item) => item.action.id === action.id),
    isEntitled: maySee(model, asked, action),
    reasons: [...reasons].sort(),
    follows: (isKept ? [] : waysOfFollowing(model, userId, action)).map(expectedWay).sort(),
    passers: (isKept ? [] : waysOfPassing(model, userId, action)).map(expectedWay).sort(),
    withheldBy: withheldBy.sort(),
    relevancy: reasons.length === 0 ? null : lifted,
    causes: causesFor(model, reader, action),
    isSomewhere: reasons.length > 0 && !action.isHidden,
  };
}
