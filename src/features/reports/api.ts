import { SHARED } from '../../graphql/shared-field.ts';
import { isShown } from '../../domain/interaction.ts';
import { moderates } from '../../domain/viewer.ts';
import { builder } from '../../graphql/builder.ts';
import { defineConnection, PAGE_COST, pageArgs, toConnection } from '../../graphql/connection.ts';
import { parseActionId, parseAddedId, parseInteractionId } from '../../graphql/global-id.ts';
import { encodeReportId } from '../../domain/node-ids.ts';
import type { ListSize } from '../../graphql/limits/cost.ts';
import { Action } from '../actions/api/action.ts';
import { type AddedNode, Node } from '../../graphql/types/node.ts';
import { Viewer } from '../viewer/api.ts';
import { describedEnum } from '../../graphql/types/enums.ts';
import { pageSize } from '../../feed/page/paging.ts';
import { getAction } from '../../feed/page/read-actions.ts';
import { Member } from '../directory/api/member.ts';
import { isBlockedFor } from '../../feed/loads/own-blocks.ts';
import { ActionViewer, Interaction } from '../interactions/api.ts';
import { getInteraction, INTERACTION } from '../interactions/read-interactions.ts';
import {
  actionsInReview,
  commentsInReview,
  MAX_REASON_LENGTH,
  MOST_ACTIONS_IN_REVIEW,
  MOST_IN_REVIEW,
  getReport,
  MAX_REPORT_TEXT,
  readReports,
  report,
  resolveReport,
  takeReport,
} from './reports.ts';
import {
  MAX_REPORTERS,
  type Report as ReportRecord,
  type Reported as ReportedRecord,
  type ReportState,
  type ReportTarget,
} from '../../domain/report.ts';

const ReportStateEnum = describedEnum<ReportState>('ReportState', 'What has become of a report.', {
  OPEN: 'Nobody has looked at it yet.',
  TAKEN: 'Somebody is looking at it.',
  RESOLVED: 'Something was done.',
  DISMISSED: 'Nothing had to be done.',
});

const ReportTargetKindEnum = describedEnum<Uppercase<ReportTarget['kind']>>(
  'ReportTargetKind',
  'The kind of thing that is reported.',
  {
    ACTION: 'An action.',
    INTERACTION: 'An interaction with an action, such as a comment.',
    MEMBER: 'A member.',
  },
);

/** Reports in one entry of the queue. */
const ENTRIES = { standard: 100, most: MAX_REPORTERS } as const;

const KIND_OF = { action: 'ACTION', interaction: 'INTERACTION', member: 'MEMBER' } as const;

const ReportEntry = builder.objectRef<ReportedRecord>('ReportEntry').implement({
  description: 'What one member reported.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When.' }),
    reason: t.exposeString('reason', { description: 'The reason.' }),
    text: t.exposeString('text', {
      nullable: true,
      description: 'Further words; null: none.',
      extensions: { maxBytes: MAX_REPORT_TEXT },
    }),
    reporter: t.field({
      type: Member,
      nullable: true,
      description: 'Who reported it. Admins see everybody, others only themselves.',
      resolve({ by }, _args, context) {
        const { userId, roles } = context.identity();
        return by === userId || roles.has('admin') ? { userId: by } : null;
      },
    }),
  }),
});

const readKey = (key: string): string | null => (/^[0-9a-f]{24}$/.test(key) ? key : null);

const Report = builder.objectRef<ReportRecord>('Report').implement({
  description:
    'All that members have reported of an action, an interaction or a member. Members see of it what they reported themselves.',
  interfaces: [Node],
  extensions: {
    node: {
      is: (source) => 'openedAt' in source,
      load: (key, context) => (readKey(key) === null ? undefined : getReport(context.session(), key)),
    } satisfies AddedNode,
  },
  fields: (t) => ({
    id: t.id({
      description: 'Global id.',
      extensions: { ...SHARED, isPlain: true },
      resolve: ({ id }) => encodeReportId(id),
    }),
    state: t.expose('state', { type: ReportStateEnum, description: 'What has become of it.' }),
    targetKind: t.field({
      type: ReportTargetKindEnum,
      description: 'What is reported; it stays when the viewer may not see that, or it is gone.',
      resolve: ({ target }) => KIND_OF[target.kind],
    }),
    action: t.field({
      type: Action,
      nullable: true,
      description:
        'The reported action, or the one with the reported interaction; null for a member, and if the viewer may not see it.',
      resolve: ({ target }, _args, context) =>
        target.kind === 'member' ? null : getAction(context.session(), target.actionId),
    }),
    interaction: t.field({
      type: Interaction,
      nullable: true,
      description:
        'The reported interaction; null: something else was reported, or the viewer may not see it.',
      async resolve({ target }, _args, context) {
        if (target.kind !== 'interaction') return null;
        const session = context.session();
        if (!moderates(session.identity)) return getInteraction(session, target.interactionId);
        const found = await session.load(INTERACTION, target.interactionId);
        return found !== null && isShown(found, true) ? found : null;
      },
    }),
    member: t.field({
      type: Member,
      nullable: true,
      description:
        'The reported member, or the one whose content was reported; null if there is a block between them and the viewer.',
      async resolve({ target: { actorId } }, _args, context) {
        return (await isBlockedFor(context.session(), actorId)) ? null : { userId: actorId };
      },
    }),
    openedAt: t.expose('openedAt', {
      type: 'DateTime',
      description: 'When it was first reported since it was last resolved.',
    }),
    count: t.int({
      nullable: true,
      description: 'Number of reports since it was last resolved. For admins and moderators.',
      resolve: ({ open }, _args, context) => (moderates(context.identity()) ? open : null),
    }),
    entries: t.field({
      type: [ReportEntry],
      description: 'What was reported, the oldest first. Members get their own.',
      args: {
        first: t.arg.int({
          description: `Number of reports, 1 to ${String(MAX_REPORTERS)}.`,
          defaultValue: ENTRIES.standard,
        }),
      },
      extensions: {
        size: { argument: 'first', default: ENTRIES.standard, max: ENTRIES.most } satisfies ListSize,
      },
      resolve({ reports }, { first }, context) {
        const identity = context.identity();
        const size = pageSize(first, ENTRIES);
        const shown = moderates(identity) ? reports : reports.filter(({ by }) => by === identity.userId);
        return shown.slice(0, size);
      },
    }),
    isWithheld: t.boolean({
      description:
        'Whether it is hidden until somebody has looked, by many reports or by the host application.',
      resolve: ({ isWithheld }, _args, context) => isWithheld && moderates(context.identity()),
    }),
    takenBy: t.field({
      type: Member,
      nullable: true,
      description: 'Who has taken it. For admins and moderators.',
      resolve: ({ takenBy }, _args, context) =>
        takenBy === null || !moderates(context.identity()) ? null : { userId: takenBy },
    }),
    resolvedBy: t.field({
      type: Member,
      nullable: true,
      description: 'Who has resolved it last. For admins and moderators.',
      resolve: ({ resolvedBy }, _args, context) =>
        resolvedBy === null || !moderates(context.identity()) ? null : { userId: resolvedBy },
    }),
    resolvedAt: t.expose('resolvedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last resolved or dismissed.',
    }),
    outcome: t.string({
      nullable: true,
      description: 'What was done. For admins and moderators.',
      extensions: { maxBytes: MAX_REPORT_TEXT },
      resolve: ({ outcome }, _args, context) => (moderates(context.identity()) ? outcome : null),
    }),
  }),
});

const inReview = (most: number) => ({ size: { usual: 1, most } satisfies ListSize });

builder.objectField(Viewer, 'actionsInReview', (t) =>
  t.field({
    type: [Action],
    description: `What the viewer has published that is hidden until a moderator has looked at it, the newest first, at most ${String(MOST_ACTIONS_IN_REVIEW)}. Nobody sees it but the viewer and moderators.`,
    extensions: inReview(MOST_ACTIONS_IN_REVIEW),
    resolve: (_source, _args, context) => actionsInReview(context.session()),
  }),
);

builder.objectField(ActionViewer, 'commentsInReview', (t) =>
  t.field({
    type: [Interaction],
    description: `Their comments on it that are hidden until a moderator has looked at them, the newest first, at most ${String(MOST_IN_REVIEW)}. Nobody sees them but the viewer and moderators.`,
    extensions: inReview(MOST_IN_REVIEW),
    resolve: ({ id }, _args, context) => commentsInReview(context.session(), id),
  }),
);

const ReportConnection = defineConnection('Report', Report, 'reports');

builder.queryField('reports', (t) =>
  t.field({
    type: ReportConnection,
    description:
      'Admin and moderator: what is reported, the most often reported first, then the oldest; what is resolved comes last.',
    args: {
      state: t.arg({ type: ReportStateEnum, description: 'Only those in this state. Default: all.' }),
      ...pageArgs(),
    },
    extensions: PAGE_COST,
    resolve: async (_root, args, context) =>
      toConnection(await readReports(context.core, context.session(), args), args),
  }),
);

const parseReportId = (id: string): string => parseAddedId(id, ['id'], 'Report', readKey);

const idArg = { required: true, description: 'Id of the report.' } as const;

builder.mutationFields((t) => ({
  report: t.field({
    type: Report,
    description:
      'Reports an action, an interaction or a member to the moderators: exactly one of the three. Once per member until a moderator has looked, and after that once more for each later version: a repetition changes nothing. NOT_FOUND if the viewer may not see it.',
    args: {
      actionId: t.arg.id({ description: 'Global id of an action.' }),
      interactionId: t.arg.id({ description: 'Global id of an interaction.' }),
      memberId: t.arg.string({ description: "The host application's own id of a member." }),
      reason: t.arg.string({
        required: true,
        description: `Such as a word for the kind of fault, at most ${String(MAX_REASON_LENGTH)} characters.`,
      }),
      text: t.arg.string({ description: `Further words, at most ${String(MAX_REPORT_TEXT)} characters.` }),
    },
    resolve: (_root, { actionId, interactionId, memberId, reason, text }, context) =>
      context.mutate((session) =>
        report(context.core, session, {
          actionId: actionId == null ? null : parseActionId(actionId, ['actionId']),
          interactionId: interactionId == null ? null : parseInteractionId(interactionId, ['interactionId']),
          memberId: memberId ?? null,
          ...{ reason, text },
        }),
      ),
  }),
  takeReport: t.field({
    type: Report,
    description:
      'Admin and moderator: takes an open report. CONFLICT if somebody else has taken it or it is resolved.',
    args: { id: t.arg.id(idArg) },
    resolve: (_root, { id }, context) =>
      context.mutate((session) => takeReport(context.core, session, parseReportId(id))),
  }),
  resolveReport: t.field({
    type: Report,
    description:
      'Admin and moderator: ends a report, taken or not. If it is dismissed, what was hidden until somebody had looked is shown again. A repetition by the same moderator changes nothing; CONFLICT if it is resolved by somebody else or in another way.',
    args: {
      id: t.arg.id(idArg),
      outcome: t.arg.string({
        required: true,
        description: `What was done, at most ${String(MAX_REPORT_TEXT)} characters.`,
      }),
      isDismissed: t.arg.boolean({ defaultValue: false, description: 'Nothing had to be done.' }),
    },
    resolve: (_root, { id, outcome, isDismissed }, context) =>
      context.mutate((session) =>
        resolveReport(context.core, session, parseReportId(id), {
          outcome,
          isDismissed: isDismissed ?? false,
        }),
      ),
  }),
}));
