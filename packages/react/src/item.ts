import {
  ACTION_STATE_FIELDS,
  CONTENT_FIELDS,
  PERSON_FIELDS,
  FeedClientError,
  type ActionState,
  type FeedItem,
  type Instant,
  type Person,
  type SummaryPart,
} from '@fanfare/client';

export type { ActionContent, Media, SummaryPart } from '@fanfare/client';

export type FanfareAction = Omit<FeedItem['action'], 'descriptor' | 'engagement'> &
  ActionState & {
    readonly descriptor: FeedItem['action']['descriptor'] & { readonly summaryParts: readonly SummaryPart[] };
  };

/** An entry of a feed as the hooks give it. */
export type FanfareItem = Omit<FeedItem, 'action'> & {
  readonly groupId: string;
  readonly isArchived: boolean;
  readonly snoozedUntil: Instant | null;
  readonly resharedBy: readonly Person[];
  readonly action: FanfareAction;
};

/**
 * Of a client that was made with other fields.
 * @throws FeedClientError PROTOCOL
 */
export function expectFields({ groupId, action }: DeepPartial<FanfareItem>): void {
  const { descriptor, engagement, viewer } = action ?? {};
  const lacking = Object.entries({
    ...{ groupId, 'action.actor': action?.actor, 'action.viewer': viewer, 'action.content': action?.content },
    ...{
      'action.engagement.reactions': engagement?.reactions,
      'action.descriptor.summaryParts': descriptor?.summaryParts,
    },
  }).filter(([, value]) => value === undefined);
  if (lacking.length === 0) return;
  const names = lacking.map(([name]) => name).join(', ');
  throw new FeedClientError(
    'PROTOCOL',
    `The client does not ask for ${names}: make it by createFanfareClient, or with feedItemFields`,
  );
}

type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [Key in keyof T]?: DeepPartial<T[Key]> }
    : T;

const DESCRIPTOR = `descriptor { type summary tags summaryParts { text member { memberId } ref { refId } } }`;

/** Selection on Action: what FanfareAction has. */
export const ACTION_FIELDS = `${ACTION_STATE_FIELDS} conducted scope actor { ${PERSON_FIELDS} } refs { refId type label } ${CONTENT_FIELDS} ${DESCRIPTOR}`;

/** Selection on NewsfeedItem: what FanfareItem has. For `createFeedClient<FanfareItem>({ …, fields: feedItemFields })`. */
export const feedItemFields = `id relevancy reasons isUnread groupId isArchived snoozedUntil resharedBy { ${PERSON_FIELDS} } action { ${ACTION_FIELDS} }`;
