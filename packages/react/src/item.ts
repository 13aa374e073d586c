import {
  ACTION_STATE_FIELDS,
  type ActionState,
  type FeedItem,
  type Instant,
  type SummaryPart,
} from '@fanfare/client';

export type { SummaryPart } from '@fanfare/client';

export type FanfareAction = Omit<FeedItem['action'], 'descriptor' | 'engagement'> &
  ActionState & {
    readonly descriptor: FeedItem['action']['descriptor'] & { readonly summaryParts: readonly SummaryPart[] };
  };

/** An entry of a feed as the hooks give it. */
export type FanfareItem = Omit<FeedItem, 'action'> & {
  readonly groupId: string;
  readonly isArchived: boolean;
  readonly snoozedUntil: Instant | null;
  readonly resharedBy: readonly { readonly memberId: string; readonly name: string }[];
  readonly action: FanfareAction;
};

/** Selection on Action: what FanfareAction has. */
export const ACTION_FIELDS = `${ACTION_STATE_FIELDS}
    conducted scope
    actor { memberId name }
    refs { refId type label }
    descriptor { type summary tags summaryParts { text member { memberId } ref { refId } } }`;

/** Selection on NewsfeedItem: what FanfareItem has. For `createFeedClient<FanfareItem>({ …, fields: feedItemFields })`. */
export const feedItemFields = `id relevancy reasons isUnread groupId isArchived snoozedUntil
    resharedBy { memberId name }
    action { ${ACTION_FIELDS} }`;
