import { ACTION_STATE_FIELDS, type ActionState, type FeedItem, type Instant } from '@fanfare/client';

/** Words of a summary; of a person or a thing, with what to link to. */
export interface SummaryPart {
  readonly text: string;
  readonly member: { readonly memberId: string } | null;
  readonly ref: { readonly refId: string } | null;
}

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
