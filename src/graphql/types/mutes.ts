import {
  MAX_MUTES,
  MAX_PHRASE_LENGTH,
  MAX_PHRASES,
  MAX_PHRASE_WORDS,
  type Mute as MuteRecord,
} from '../../domain/mute.ts';
import { encodeNodeId } from '../../domain/node-ids.ts';
import { builder } from '../builder.ts';
import type { ListSize } from '../limits/cost.ts';
import { Member } from './member.ts';
import { Ref } from './ref.ts';
import { Viewer } from './viewer.ts';

/** Most readers have only a few mutes. */
const MUTES_COST: { readonly size: ListSize } = { size: 100 };

const Mute = builder.objectRef<MuteRecord>('Mute').implement({
  description:
    'Something that the viewer wants to see nothing of in their feed: one of member, ref, type and phrase.',
  fields: (t) => ({
    id: t.id({
      description: 'The same for as long as it is muted, and when it is muted again.',
      resolve: ({ kind, value }) => encodeNodeId('Mute', `${kind}:${value}`),
    }),
    member: t.field({
      type: Member,
      nullable: true,
      description: 'Who: what they do.',
      resolve: ({ kind, value }) => (kind === 'MEMBER' ? { userId: value } : null),
    }),
    ref: t.field({
      type: Ref,
      nullable: true,
      description: 'What refers to it; to a person also what they do.',
      resolve: ({ kind, value }) => (kind === 'REF' ? { refId: value, type: 'unknown', label: value } : null),
    }),
    type: t.string({
      nullable: true,
      description: 'A type of descriptor, as `Descriptor.type` says it.',
      resolve: ({ kind, value }) => (kind === 'TYPE' ? value : null),
    }),
    phrase: t.exposeString('text', {
      nullable: true,
      description: 'Words that follow each other in a text or a name, as the viewer wrote them last.',
    }),
    until: t.expose('until', {
      type: 'DateTime',
      nullable: true,
      description: 'From then on it is not muted. Null: it has no end.',
    }),
  }),
});

const MuteTargetInput = builder.inputType('MuteTargetInput', {
  description: 'What to mute: exactly one of these.',
  isOneOf: true,
  fields: (t) => ({
    memberId: t.string({ description: 'What this member does. Not the viewer.' }),
    refId: t.string({ description: 'What refers to this; the id of a person also stands for what they do.' }),
    type: t.string({ description: 'Actions with this type of descriptor.' }),
    phrase: t.string({
      description:
        `What has these words one after the other, 1 to ${String(MAX_PHRASE_WORDS)} of them in at most ` +
        `${String(MAX_PHRASE_LENGTH)} characters: in one of the texts and names of its descriptor or the labels of its ` +
        'refs, as they are stored. Upper and lower case are the same. Not in summaries, tags, free data and comments.',
    }),
  }),
});

builder.objectFields(Viewer, (t) => ({
  mutes: t.field({
    type: [Mute],
    description:
      'Everything that the viewer mutes now: members, refs, types, phrases, in this order, each by its value.',
    extensions: MUTES_COST,
    resolve: async (_source, _args, context) => (await context.session().profile()).mutes.list,
  }),
}));

const targetArg = { type: MuteTargetInput, required: true } as const;

builder.mutationFields((t) => ({
  addMute: t.field({
    type: Viewer,
    description:
      "Keeps actions out of the viewer's feed and its counts, groups and events, at once; what is stored stays. Adding " +
      `again replaces \`until\`. CONFLICT beyond ${String(MAX_MUTES)} mutes, ${String(MAX_PHRASES)} phrases among them.`,
    args: {
      target: t.arg({ ...targetArg, description: 'What.' }),
      until: t.arg({
        type: 'DateTime',
        description: 'When it ends, later than now. Without it there is no end.',
      }),
    },
    async resolve(_root, { target, until }, context) {
      await context.mutate((session) => context.services.addMute(session, target, until));
      return {};
    },
  }),
  removeMute: t.field({
    type: Viewer,
    description: 'Lets it into the feed again. What is not muted stays as it is.',
    args: { target: t.arg({ ...targetArg, description: 'What.' }) },
    async resolve(_root, { target }, context) {
      await context.mutate((session) => context.services.removeMute(session, target));
      return {};
    },
  }),
}));
