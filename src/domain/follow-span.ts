import type { ActionId } from './action.ts';

/** A period in which a reader followed a ref: `since` inclusive, `until` exclusive. */
export interface FollowSpan {
  readonly since: Date;
  readonly until?: Date;
  /** Oldest action within the millisecond of `since` that belongs to the span: a batch is recorded in one millisecond. */
  readonly sinceAction?: ActionId;
  /** The follow brings only these types; sorted, no duplicates. Absent: all types. Does not limit visibility. */
  readonly types?: readonly string[];
}

/** Upper bound on the spans of one follow: every read that uses the follow loads all of them. */
export const MAX_SPANS = 200;

/** The current span of a follow; `null` when the ref is not followed now. */
export function openSpanOf(
  follow: { readonly active: boolean; readonly spans: readonly FollowSpan[] } | null,
): FollowSpan | null {
  if (follow?.active !== true) return null;
  return follow.spans.find(({ until }) => until === undefined) ?? null;
}

/** The spans of a follow that has ended by then. */
export function endedSpans({ spans }: { readonly spans: readonly FollowSpan[] }, by: Date): FollowSpan[] {
  return spans.map((span) => ({ ...span, until: span.until ?? by }));
}

/** The fields of an action that decide whether a follow takes it. */
export interface TypedAction {
  readonly descriptor: { readonly type: string };
}

interface RecordedAction {
  readonly id: ActionId;
  readonly recorded: Date;
}

export function spanContains(span: FollowSpan, action: RecordedAction): boolean {
  const at = action.recorded.getTime();
  const since = span.since.getTime();
  if (at < since) return false;
  if (at === since && span.sinceAction !== undefined && action.id < span.sinceAction) return false;
  return span.until === undefined || at < span.until.getTime();
}

export function anySpanContains(spans: readonly FollowSpan[], action: RecordedAction): boolean {
  return spans.some((span) => spanContains(span, action));
}

/** Whether the span brings the action into a feed: recorded within the span and of a followed type. */
export function spanBrings(span: FollowSpan, action: RecordedAction & TypedAction): boolean {
  return takesType(span, action) && spanContains(span, action);
}

export function anySpanBrings(spans: readonly FollowSpan[], action: RecordedAction & TypedAction): boolean {
  return spans.some((span) => spanBrings(span, action));
}

/** Whether the span brings an action reshared at that time. `sinceAction` is about publications and does not apply. */
export function spanBringsPassedOn(span: FollowSpan, action: TypedAction, at: Date): boolean {
  const { since, until } = span;
  return (
    takesType(span, action) &&
    at.getTime() >= since.getTime() &&
    (until === undefined || at.getTime() < until.getTime())
  );
}

export function anySpanBringsPassedOn(spans: readonly FollowSpan[], action: TypedAction, at: Date): boolean {
  return spans.some((span) => spanBringsPassedOn(span, action, at));
}

function takesType({ types }: FollowSpan, { descriptor }: TypedAction): boolean {
  return types === undefined || types.includes(descriptor.type);
}
