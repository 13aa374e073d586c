import type { ActionId } from './action.ts';

/** A stretch of time during which a reader followed a ref: `since` inclusive, `until` exclusive. */
export interface FollowSpan {
  readonly since: Date;
  readonly until?: Date;
  /**
   * The oldest action recorded in the very millisecond of `since` that belongs to the span. A batch is recorded in
   * one millisecond, and "the newest n" must be able to cut through it.
   */
  readonly sinceAction?: ActionId;
}

export function spanContains(
  span: FollowSpan,
  action: { readonly id: ActionId; readonly recorded: Date },
): boolean {
  const at = action.recorded.getTime();
  const since = span.since.getTime();
  if (at < since) return false;
  if (at === since && span.sinceAction !== undefined && action.id < span.sinceAction) return false;
  return span.until === undefined || at < span.until.getTime();
}

export function anySpanContains(
  spans: readonly FollowSpan[],
  action: { readonly id: ActionId; readonly recorded: Date },
): boolean {
  return spans.some((span) => spanContains(span, action));
}

/** Whether one of the spans contains a moment. Which action a span begins with says nothing of other things. */
export function spansContain(spans: readonly FollowSpan[], at: Date): boolean {
  return spans.some((span) => spanContainsMoment(span, at));
}

export function spanContainsMoment({ since, until }: FollowSpan, at: Date): boolean {
  return at.getTime() >= since.getTime() && (until === undefined || at.getTime() < until.getTime());
}
