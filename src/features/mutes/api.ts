import { NO_BLOCKS } from '../../domain/block.ts';
import { blockWith, nobody } from '../../feed/loads/own-blocks.ts';
import type { FollowedRef } from '../../feed/loads/own-follows.ts';
import {
  MAX_MUTES,
  MAX_PHRASE_LENGTH,
  MAX_PHRASES,
  MAX_PHRASE_WORDS,
  type Mute as MuteRecord,
} from '../../domain/mute.ts';
import { encodeNodeId } from '../../domain/node-ids.ts';
import { builder } from '../../graphql/builder.ts';
import type { ListSize } from '../../graphql/limits/cost.ts';
import { Member } from '../directory/api/member.ts';
import { Ref } from '../directory/api/ref.ts';
import { Viewer } from '../viewer/api.ts';
import { addMute, removeMute } from './mutes.ts';

const MUTES_COST: { readonly size: ListSize } = { size: { usual: 100, most: MAX_MUTES } };

interface MuteSource extends MuteRecord {
  /** Shown in place of the member. */
  readonly nobody: FollowedRef | null;
}

const Mute = builder.objectRef<MuteSource>('Mute').implement({
  description: 'Something that the viewer does not want to see in their feed: a member, ref, type or phrase.',
  fields: (t) => ({
    id: t.id({
      description: 'Stays the same while it is muted, and if it is muted again.',
      resolve: ({ kind, value }) => encodeNodeId('Mute', `${kind}:${value}`),
    }),
    member: t.field({
      type: Member,
      nullable: true,
      description: 'The muted member, whose actions are not shown.',
      resolve: ({ kind, value, nobody }) => (kind === 'MEMBER' ? { userId: value, nobody } : null),
    }),
    ref: t.field({
      type: Ref,
      nullable: true,
      description:
        'The muted ref: actions that refer to it are not shown. If it is a person, also their own actions.',
      resolve: ({ kind, value, nobody }) =>
        kind === 'REF' ? (nobody ?? { refId: value, type: 'unknown', label: value }) : null,
    }),
    type: t.string({
      nullable: true,
      description: 'A descriptor type, as in `ActionDescriptor.type`.',
      resolve: ({ kind, value }) => (kind === 'TYPE' ? value : null),
    }),
    phrase: t.exposeString('text', {
      nullable: true,
      description: 'Consecutive words in a text or name, as the viewer last wrote them.',
    }),
    until: t.expose('until', {
      type: 'DateTime',
      nullable: true,
      description: 'When the mute ends; null: never.',
    }),
  }),
});

const MuteTargetInput = builder.inputType('MuteTargetInput', {
  description: 'What to mute: exactly one of these.',
  isOneOf: true,
  fields: (t) => ({
    memberId: t.string({ description: 'Actions of this member, who must not be the viewer.' }),
    refId: t.string({
      description: 'Actions that refer to this; for the id of a person also their own actions.',
    }),
    type: t.string({ description: 'Actions with this type of descriptor.' }),
    phrase: t.string({
      description: `Actions that contain these 1 to ${String(MAX_PHRASE_WORDS)} consecutive words (at most ${String(MAX_PHRASE_LENGTH)} characters) in a text or name of the descriptor or in the label of a ref, as stored. Case-insensitive. Summaries, tags, free data and comments are not compared.`,
    }),
  }),
});

builder.objectFields(Viewer, (t) => ({
  mutes: t.field({
    type: [Mute],
    description:
      'Current mutes of the viewer: members, refs, types, phrases, in this order, each sorted by value. Without people whom the viewer blocks.',
    extensions: MUTES_COST,
    async resolve(_source, _args, context) {
      const session = context.session();
      const { mutes, blocks } = await session.profile();
      const shown = await Promise.all(
        mutes.list.map(async (mute): Promise<MuteSource | null> => {
          const { kind, value } = mute;
          const isOfMember = blocks !== NO_BLOCKS && (kind === 'MEMBER' || kind === 'REF');
          const block = isOfMember ? await blockWith(session, value) : null;
          if (block?.isOwn === true) return null;
          return { ...mute, nobody: block === null ? null : nobody(value, block.followed) };
        }),
      );
      return shown.filter((mute) => mute !== null);
    },
  }),
}));

const targetArg = { type: MuteTargetInput, required: true } as const;

builder.mutationFields((t) => ({
  addMute: t.field({
    type: Viewer,
    description: `Removes actions from the viewer's feed and its counts, groups and events immediately; stored items stay. Adding a mute again replaces \`until\`. CONFLICT beyond ${String(MAX_MUTES)} mutes or ${String(MAX_PHRASES)} phrases.`,
    args: {
      target: t.arg({ ...targetArg, description: 'What to mute.' }),
      until: t.arg({
        type: 'DateTime',
        description: 'When the mute ends, in the future. Default: never.',
      }),
    },
    async resolve(_root, { target, until }, context) {
      await context.mutate((session) => addMute(context.core, session, target, until));
      return {};
    },
  }),
  removeMute: t.field({
    type: Viewer,
    description: 'Ends a mute. Has no effect if it is not muted.',
    args: { target: t.arg({ ...targetArg, description: 'The mute to end.' }) },
    async resolve(_root, { target }, context) {
      await context.mutate((session) => removeMute(context.core, session, target));
      return {};
    },
  }),
}));
