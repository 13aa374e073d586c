import { FAN_OUT_STATES, SCOPES, type FanOutState, type Scope } from '../../domain/action.ts';
import { LANES, type Lane } from '../../domain/lane.ts';
import { DELIVERY_REASONS, type DeliveryReason } from '../../domain/newsfeed-item.ts';
import type { FeedOrder, FeedState } from '../../features/shapes.ts';
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
    RESTRICTED: 'Only the recipients named in the action.',
    FOLLOWERS: 'Followers of the actor or of one of the refs.',
    PUBLIC: 'Everybody may see it; followers get it in their feeds.',
  }),
});

export const FanOutStateEnum = builder.enumType('FanOutState', {
  description: 'Progress of the delivery of an action to feeds.',
  values: described<FanOutState>(FAN_OUT_STATES, {
    PENDING: 'It waits for a worker.',
    IN_PROGRESS: 'A worker is delivering it.',
    DONE: 'All feeds reflect the action at this version.',
    FAILED: 'Failed too many times; an admin can retry it.',
  }),
});

export const LaneEnum = builder.enumType('Lane', {
  description: 'How urgent a delivery is.',
  values: described<Lane>(LANES, {
    URGENT: 'An action was hidden, shown again or deleted.',
    LIVE: 'An action was published or got an interaction.',
    BULK: 'Many actions at once, which are not urgent.',
  }),
});

export const DeliveryReasonEnum = builder.enumType('DeliveryReason', {
  description: 'Why an action is in a feed.',
  values: described<DeliveryReason>(DELIVERY_REASONS, {
    MENTION: 'The action mentions the reader.',
    RECIPIENT: 'The reader is a recipient of the restricted action.',
    TEAM: "The reader is in the actor's team.",
    DEPARTMENT: "The reader is in the actor's department.",
    FOLLOW: 'The reader follows the actor or one of the refs.',
    PULL: 'The reader follows a ref with very many followers, whose actions are looked up on read.',
    RESHARE: 'A member whom the reader follows reshared a PUBLIC action.',
  }),
});

export const FeedStateEnum = builder.enumType('FeedState', {
  description: 'Whether the stored part of a feed is complete.',
  values: described<FeedState>(['READY', 'REBUILDING'], {
    READY: 'The feed is complete.',
    REBUILDING: 'The feed is being rebuilt in the background.',
  }),
});

export const FeedOrderEnum = builder.enumType('FeedOrder', {
  description: 'How a feed is ordered.',
  values: described<FeedOrder>(['RELEVANCY', 'RECENT', 'TOP'], {
    RELEVANCY: 'By relevancy for the reader, highest first.',
    RECENT: 'Newest first, by `conducted`.',
    TOP: 'By score, highest first.',
  }),
});
