import { z } from 'zod';

/** A tool is a field of the API: who may use it, and what it shows, is decided there. */
export interface Tool {
  readonly description: string;
  readonly input: z.ZodRawShape;
  readonly query: string;
  /** It changes something. */
  readonly writes?: true;
}

const MAX_PAGE = 25;
const id = z.string().min(1).max(8_192);
const memberId = z.string().min(1).max(256).describe('Id of a member in the host application');
const first = z.number().int().min(1).max(MAX_PAGE).default(10).describe('How many, the first ones');
const search = z.string().max(100).describe('Words of the name, of which the last one may be incomplete');

const ACTION = 'id conducted scope isHidden actor { memberId name } descriptor { type summary }';

export const TOOLS: Readonly<Record<string, Tool>> = {
  explain_item: {
    description:
      'Why an action is in the feed of a member, or is not: through what, what withholds it, and what raises it. Of another member: admins.',
    input: { actionId: id.describe('Global id of the action'), memberId: memberId.optional() },
    query: `query McpExplainItem($actionId: ID!, $memberId: String) {
      action(id: $actionId) { ${ACTION} }
      explainFeedItem(actionId: $actionId, memberId: $memberId) {
        isInFeed isEntitled path relevancy score scoreVars withheldBy
        addressedBy { reason via since until } causes { kind at liftedTo }
      }
    }`,
  },
  explain_notification: {
    description:
      'Why a member was notified of something, or was not: whether it is listed, and by channel what is sent and when. Of another member: admins.',
    input: {
      kind: z.string().max(40).describe('Kind of notification, such as MENTION, COMMENT, LIKE or FOLLOW'),
      actionId: id.optional().describe('Global id of the action; for all kinds but FOLLOW'),
      memberId: memberId.optional(),
    },
    query: `query McpExplainNotification($kind: NotificationKind!, $actionId: ID, $memberId: String) {
      explainNotification(kind: $kind, actionId: $actionId, memberId: $memberId) {
        isListed isRead isSeen at withheldBy
        preferences { kind channel type isOn isLocked } sending { channel dueAt notifiedAt withheldBy }
      }
    }`,
  },
  find_member: {
    description: 'Members by the words of their names.',
    input: { search, first },
    query: `query McpFindMember($search: String, $first: Int) {
      members(search: $search, first: $first) {
        edges { node { memberId name teamId departmentId supervisorId followerCount } } pageInfo { hasNextPage }
      }
    }`,
  },
  find_ref: {
    description: 'Things that actions are about, by the words of their labels.',
    input: { search, type: z.string().max(256).optional().describe('Type of the thing'), first },
    query: `query McpFindRef($search: String, $type: String, $first: Int) {
      refs(search: $search, type: $type, first: $first) {
        edges { node { refId type label followerCount } } pageInfo { hasNextPage }
      }
    }`,
  },
  feed_of: {
    description:
      'The feed of the member whose token it is, newest first. With memberId, for admins: whether the feed of that member is stored, and how current it is.',
    input: { memberId: memberId.optional(), first },
    query: `query McpFeedOf($memberId: String! = "", $first: Int, $ofOther: Boolean! = false) {
      feed(first: $first, order: RECENT) @skip(if: $ofOther) {
        edges { node { isUnread reasons action { ${ACTION} } } } pageInfo { hasNextPage }
      }
      feedState(memberId: $memberId) @include(if: $ofOther)
    }`,
  },
  reports: {
    description: 'What members have reported, for moderators and admins.',
    input: { state: z.enum(['OPEN', 'TAKEN', 'RESOLVED', 'DISMISSED']).optional(), first },
    query: `query McpReports($state: ReportState, $first: Int) {
      reports(state: $state, first: $first) {
        edges { node {
          id state targetKind openedAt isWithheld outcome member { memberId name } action { ${ACTION} }
          interaction { id kind text } entries(first: 5) { at reason text reporter { memberId name } }
        } } pageInfo { hasNextPage }
      }
    }`,
  },
  work: {
    description: 'Work in progress, for admins: deliveries by lane, workers, rebuilds, what has failed.',
    input: {},
    query: `query McpWork {
      work {
        failedFanOuts feedModel feedCap rebuildsDue renamesDue watchers workers lanes { lane pending }
      }
    }`,
  },
  hide_action: {
    writes: true,
    description: 'Hides an action from everybody but moderators and its actor, for moderators and admins.',
    input: {
      id: id.describe('Global id of the action'),
      reason: z.string().max(2_000).optional().describe('For the moderation log'),
    },
    query: `mutation McpHideAction($id: ID!, $reason: String) { hideAction(id: $id, reason: $reason) { ${ACTION} } }`,
  },
  resolve_report: {
    writes: true,
    description: 'Ends a report, for moderators and admins.',
    input: {
      id: id.describe('Id of the report'),
      outcome: z.string().max(2_000).describe('What was done'),
      isDismissed: z.boolean().default(false).describe('Nothing had to be done'),
    },
    query: `mutation McpResolveReport($id: ID!, $outcome: String!, $isDismissed: Boolean) {
      resolveReport(id: $id, outcome: $outcome, isDismissed: $isDismissed) { id state outcome resolvedAt }
    }`,
  },
};
