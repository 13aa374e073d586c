import { Viewer } from '../../../src/features/viewer/api.ts';
import { builder } from '../../../src/graphql/builder.ts';
import { describedEnum } from '../../../src/graphql/types/enums.ts';
import type { MailOffReason } from './store.ts';
import { type MailState as State, mailStateOf, readMailState, resumeMails } from './use-cases.ts';

const MailOffReasonEnum = describedEnum<MailOffReason>('MailOffReason', 'Why a member is sent no mails.', {
  REFUSED: 'The mail server knows no mailbox of this address.',
  BOUNCED: 'A mail came back for good.',
  COMPLAINED: 'The member told their mail provider that a mail was not wanted.',
});

const MailState = builder.objectRef<State>('MailState').implement({
  description: 'How mails to a member stand. The address itself is not shown.',
  fields: (t) => ({
    hasAddress: t.exposeBoolean('hasAddress', {
      description: 'Whether the host application has given an address.',
    }),
    offReason: t.field({
      type: MailOffReasonEnum,
      nullable: true,
      description:
        'Why no mails are sent to this address; null: they are. Another address ends it, and `resumeMails`.',
      resolve: ({ off }) => off?.reason ?? null,
    }),
    offSince: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Since when.',
      resolve: ({ off }) => off?.at ?? null,
    }),
    error: t.string({
      nullable: true,
      description:
        'What the mail server said, or of the last mail if that was given up; such as "550 5.1.1".',
      resolve: ({ off, failed }) => off?.error ?? failed?.error ?? null,
    }),
    digestsOffSince: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the member unsubscribed from digests; null: they did not.',
      resolve: ({ digestsOffAt }) => digestsOffAt,
    }),
    sentAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the mail server took the last mail.',
      resolve: ({ sentAt }) => sentAt,
    }),
  }),
});

builder.objectField(Viewer, 'mails', (t) =>
  t.field({
    type: MailState,
    nullable: true,
    description: 'How mails to the viewer stand; null: the server sends none.',
    resolve: (_source, _args, context) => mailStateOf(context.core, context.identity().userId),
  }),
);

builder.queryField('mailState', (t) =>
  t.field({
    type: MailState,
    nullable: true,
    description: 'Admin or service: how mails to a member stand; null: the server sends none.',
    args: { memberId: t.arg.string({ required: true, description: 'Whose mails.' }) },
    resolve: (_root, { memberId }, context) => readMailState(context.core, context.identity(), memberId),
  }),
);

builder.mutationField('resumeMails', (t) =>
  t.field({
    type: MailState,
    nullable: true,
    description:
      'Sends mails to the viewer again, after a bounce, a complaint, or an end of digests. Preferences of notifications stay as they are.',
    resolve: (_root, _args, context) => context.mutate(({ identity }) => resumeMails(context.core, identity)),
  }),
);
