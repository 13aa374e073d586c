import { nameIn } from '../../../descriptors/registry.ts';
import type { RefId } from '../../../domain/action.ts';
import type { Ref as LiveRef, RenameProgress } from '../../../domain/member.ts';
import { builder } from '../../../graphql/builder.ts';
import type { ListArgument } from '../../../graphql/limits/variables.ts';
import { MAX_ENTRIES_PER_CALL, upsertRefs, renameRef } from '../directory.ts';
import { defineConnection } from '../../../graphql/connection.ts';
import type { GraphQLContext } from '../../../graphql/context.ts';
import { liveName } from '../../../graphql/live-selection.ts';
import { SHARED } from '../../../graphql/shared-field.ts';
import { detailFields, detailInputs } from './details.ts';
import { Node } from '../../../graphql/types/node.ts';
import { ownFollow, type FollowedRef } from '../../../feed/loads/own-follows.ts';
import { REF, refName, REF_DETAILS } from '../../../feed/loads/names.ts';

/** Type shown for a ref known only from being followed. */
const UNKNOWN_TYPE = 'unknown';

/** For a recorded ref, the current one is loaded when more than its id is requested. */
export type RefSource =
  | { readonly refId: RefId; readonly type: string; readonly label: string }
  | FollowedRef;

/** Type and label of a source that has them. */
function namingOf(source: FollowedRef): FollowedRef | ReturnType<NonNullable<FollowedRef['named']>> {
  return source.named?.() ?? source;
}

/** Whatever is known of it, it is shown as an id that nobody has. */
export function isNobody(source: RefSource): boolean {
  return 'isNobody' in source;
}

async function live(source: RefSource, context: GraphQLContext): Promise<LiveRef | null> {
  return 'followerCount' in source ? source : context.session().load(REF, source.refId);
}

const RefRename = builder.objectRef<RenameProgress>('RefRename').implement({
  description: "Progress of updating the copies of a ref's label in actions.",
  fields: (t) => ({
    version: t.exposeInt('version', { description: 'Incremented by every change of the label.' }),
    propagated: t.exposeInt('propagated', { description: 'The version that has reached all copies.' }),
    isDone: t.boolean({
      description: 'Whether all copies match the label. Reads show the label in any case.',
      resolve: ({ version, propagated }) => propagated >= version,
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Error of the last attempt, which is retried. Null once it is done.',
    }),
  }),
});

export const Ref = builder.objectRef<RefSource>('Ref').implement({
  description: 'A thing that actions refer to and that can be followed.',
  interfaces: [Node],
  fields: (t) => ({
    refId: t.exposeString('refId', {
      description: "The host application's own id of the thing.",
      extensions: SHARED,
    }),
    type: t.string({
      description: `What kind of thing it is; "${UNKNOWN_TYPE}" until the host application has described it.`,
      extensions: SHARED,
      resolve: async (source, _args, context) =>
        ('followerCount' in source ? await namingOf(source) : await refName(context.session(), source.refId))
          ?.type ??
        source.type ??
        UNKNOWN_TYPE,
    }),
    label: t.string({
      description:
        'Its current name; if it no longer exists, its name when the action was recorded, or its id.',
      extensions: SHARED,
      resolve: async (source, _args, context) =>
        nameIn(
          context.locale,
          ('followerCount' in source ? (await namingOf(source)).label : null) ??
            (isNobody(source) ? null : await liveName(context.session(), source.refId)) ??
            source.label ??
            source.refId,
        ),
    }),
    ...detailFields(t, async (source, context) =>
      isNobody(source) ? null : context.session().load(REF_DETAILS, source.refId),
    ),
    followerCount: t.int({
      description: 'Number of its followers.',
      resolve: async (source, _args, context) => (await live(source, context))?.followerCount ?? 0,
    }),
    isFollowed: t.boolean({
      description: 'Whether the viewer follows it now.',
      resolve: async (source, _args, context) =>
        (await ownFollow(context.session(), source))?.active ?? false,
    }),
    rename: t.field({
      type: RefRename,
      nullable: true,
      description:
        'The last change of its label. Null if it has none, and unless the viewer is an admin or a service.',
      async resolve(source, _args, context) {
        const { roles } = context.identity();
        if (!roles.has('admin') && !roles.has('service')) return null;
        return (await live(source, context))?.rename ?? null;
      },
    }),
  }),
});

export const RefConnection = defineConnection('Ref', Ref, 'refs');

export const RefInput = builder.inputType('RefInput', {
  description:
    'A thing as described by the host application. upsertRefs clears absent details; elsewhere details are BAD_USER_INPUT.',
  fields: (t) => ({
    id: t.string({ required: true, description: "The host application's own id of the thing." }),
    type: t.string({ required: true, description: 'What kind of thing it is.' }),
    label: t.string({ required: true, description: 'Its name.' }),
    ...detailInputs(t),
  }),
});

builder.mutationField('upsertRefs', (t) =>
  t.int({
    description: 'Service: stores the current state of refs, at most 1000. Returns the number of refs given.',
    args: {
      refs: t.arg({
        type: [RefInput],
        required: true,
        description: 'Of a ref given twice, the last record counts.',
        extensions: { maxEntries: MAX_ENTRIES_PER_CALL } satisfies ListArgument,
      }),
    },
    resolve: (_root, { refs }, context) =>
      context.mutate(({ identity }) => upsertRefs(context.core, identity, refs)),
  }),
);

builder.mutationField('renameRef', (t) =>
  t.field({
    type: Ref,
    description:
      'Service: changes the label of a ref. Reads show it immediately; copies in stored actions are updated in the background.',
    args: {
      refId: t.arg.string({ required: true, description: "The host application's own id of the thing." }),
      label: t.arg.string({ required: true, description: 'The new name.' }),
    },
    resolve: (_root, { refId, label }, context) =>
      context.mutate(({ identity }) => renameRef(context.core, identity, refId, label)),
  }),
);
