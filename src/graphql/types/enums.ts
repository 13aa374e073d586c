import { type FanOutState, type Scope } from '../../domain/action.ts';
import { type Lane } from '../../domain/lane.ts';
import { type DeliveryReason } from '../../domain/newsfeed-item.ts';
import type { FeedState } from '../../core/shapes.ts';
import { builder } from '../builder.ts';

/** An enum whose values are called as they are stored. */
export function describedEnum<Value extends string>(
  name: string,
  description: string,
  values: Readonly<Record<Value, string>>,
) {
  const entries = Object.entries<string>(values).map(([value, meaning]) => [value, { description: meaning }]);
  return builder.enumType(name, {
    description,
    values: Object.fromEntries(entries) as Record<Value, { description: string }>,
  });
}

export const ScopeEnum = describedEnum<Scope>('Scope', 'Whom an action is for.', {
  TEAM: "Members of the actor's team.",
  DEPARTMENT: "Members of the actor's department.",
  RESTRICTED: 'Only the recipients named in the action.',
  FOLLOWERS: 'Followers of the actor or of one of the refs.',
  PUBLIC: 'Everybody may see it; followers get it in their feeds.',
});

export const FanOutStateEnum = describedEnum<FanOutState>(
  'FanOutState',
  'Progress of the delivery of an action to feeds.',
  {
    PENDING: 'It waits for a worker.',
    IN_PROGRESS: 'A worker is delivering it.',
    DONE: 'All feeds reflect the action at this version.',
    FAILED: 'Failed too many times; an admin can retry it.',
  },
);

export const LaneEnum = describedEnum<Lane>('Lane', 'How urgent a delivery is.', {
  URGENT: 'An action was hidden, shown again or deleted.',
  LIVE: 'An action was published or got an interaction.',
  BULK: 'Many actions at once, which are not urgent.',
});

export const DeliveryReasonEnum = describedEnum<DeliveryReason>(
  'DeliveryReason',
  'Why an action is in a feed.',
  {
    MENTION: 'The action mentions the reader.',
    RECIPIENT: 'The reader is a recipient of the restricted action.',
    TEAM: "The reader is in the actor's team.",
    DEPARTMENT: "The reader is in the actor's department.",
    FOLLOW: 'The reader follows the actor or one of the refs.',
    PULL: 'The reader follows a ref with very many followers, whose actions are looked up on read.',
    RESHARE: 'A member whom the reader follows reshared a PUBLIC action.',
  },
);

export const FeedStateEnum = describedEnum<FeedState>(
  'FeedState',
  'Whether the stored part of a feed is complete.',
  {
    READY: 'The feed is complete.',
    REBUILDING: 'The feed is being rebuilt in the background.',
  },
);
