import { FAN_OUT_STATES, SCOPES, type FanOutState, type Scope } from '../../domain/action.ts';
import { LANES, type Lane } from '../../domain/lane.ts';
import { DELIVERY_REASONS, type DeliveryReason } from '../../domain/newsfeed-item.ts';
import type { FeedOrder, FeedState } from '../../services/shapes.ts';
import { builder } from '../builder.ts';

export function described<Value extends string>(
  values: readonly Value[],
  descriptions: Readonly<Record<Value, string>>,
): Record<Value, { value: Value; description: string }> {
  const entries = values.map((value) => [value, { value, description: descriptions[value] }]);
  return Object.fromEntries(entries) as Record<Value, { value: Value; description: string }>;
}

export const ScopeEnum = builder.enumType('Scope', {
  description: 'Whom an action is for.',
  values: described<Scope>(SCOPES, {
    TEAM: "Members of the actor's team.",
    DEPARTMENT: "Members of the actor's department.",
    RESTRICTED: 'The recipients that the action names, and nobody else.',
    FOLLOWERS: 'Followers of the actor or of one of the refs.',
    PUBLIC: 'Everybody may see it; followers find it in their feeds.',
  }),
});

export const FanOutStateEnum = builder.enumType('FanOutState', {
  description: 'How far the delivery of an action to feeds has come.',
  values: described<FanOutState>(FAN_OUT_STATES, {
    PENDING: 'Waits for a worker.',
    IN_PROGRESS: 'A worker delivers it.',
    DONE: 'Every feed agrees with the action as it was at this version.',
    FAILED: 'Given up after too many attempts; an admin can retry it.',
  }),
});

export const LaneEnum = builder.enumType('Lane', {
  description: 'How urgent a delivery is.',
  values: described<Lane>(LANES, {
    URGENT: 'An action was hidden, shown again or deleted.',
    LIVE: 'An action was published, or somebody interacted with it.',
    BULK: 'Many actions at once, for which nobody waits.',
  }),
});

export const DeliveryReasonEnum = builder.enumType('DeliveryReason', {
  description: 'Why an action is in a feed.',
  values: described<DeliveryReason>(DELIVERY_REASONS, {
    MENTION: 'The reader is mentioned.',
    RECIPIENT: 'The reader is a recipient of the restricted action.',
    TEAM: "The reader is in the actor's team.",
    DEPARTMENT: "The reader is in the actor's department.",
    FOLLOW: 'The reader follows the actor or one of the refs.',
    PULL: 'The reader follows a ref with very many followers; the action is fetched on read.',
    RESHARE: 'Somebody the reader follows passed on a PUBLIC action.',
  }),
});

export const FeedStateEnum = builder.enumType('FeedState', {
  description: 'Whether the stored part of a feed is complete.',
  values: described<FeedState>(['READY', 'REBUILDING'], {
    READY: 'The feed is complete.',
    REBUILDING: 'The feed is being filled again in the background.',
  }),
});

export const FeedOrderEnum = builder.enumType('FeedOrder', {
  description: 'How a feed is ordered.',
  values: described<FeedOrder>(['RELEVANCY', 'RECENT', 'TOP'], {
    RELEVANCY: 'The most relevant to the reader first.',
    RECENT: 'The newest first, by when it was conducted.',
    TOP: 'The most engaging first.',
  }),
});
