import type { SliceEvent as SliceSource, ThreadEvent as ThreadSource } from '../../../core/shapes.ts';
import { watchSlice, watchThread } from '../../../feed/watch/watch-lists.ts';
import { builder } from '../../../graphql/builder.ts';
import { encodeActionId, encodeInteractionId, parseActionId } from '../../../graphql/global-id.ts';
import { asksForType } from '../../../graphql/live-selection.ts';
import { HOLDS_SHARED, PLAIN } from '../../../graphql/shared-field.ts';
import { Action, ActionFilter } from '../../actions/api/action.ts';
import { Interaction } from '../../interactions/api.ts';

type Of<Source extends { readonly kind: string }, Kind extends Source['kind']> = Extract<
  Source,
  { readonly kind: Kind }
>;
type Placed = SliceSource | ThreadSource;
type WithAction = Extract<Placed, { readonly action: unknown }>;
type WithInteraction = Extract<Placed, { readonly interaction: unknown }>;
type OfAction = Of<SliceSource, 'removed'> | Of<ThreadSource, 'gone'>;

const READY = 'The subscription is active; no later event is missed.';

/** An event with its place, and what it is about. */
function eventOf<Source extends { readonly cursor: string }>(name: string, description: string) {
  const ref = builder.objectRef<Source>(name);
  ref.implement({ description });
  builder.objectField(ref, 'cursor', (t) =>
    t.string({
      description: 'Pass it as `after` to continue after this event.',
      extensions: PLAIN,
      resolve: ({ cursor }) => cursor,
    }),
  );
  return ref;
}

function withAction<Source extends WithAction>(name: string, description: string) {
  const ref = eventOf<Source>(name, description);
  builder.objectField(ref, 'action', (t) =>
    t.field({
      type: Action,
      description: 'The action as it is now.',
      extensions: HOLDS_SHARED,
      resolve: ({ action }) => action,
    }),
  );
  return ref;
}

function ofAction<Source extends OfAction>(name: string, description: string) {
  const ref = eventOf<Source>(name, description);
  builder.objectField(ref, 'actionId', (t) =>
    t.id({
      description: 'Global id of the action.',
      resolve: ({ actionId }) => encodeActionId(actionId),
    }),
  );
  return ref;
}

function withInteraction(name: string, description: string) {
  const ref = eventOf<WithInteraction>(name, description);
  builder.objectField(ref, 'interaction', (t) =>
    t.field({
      type: Interaction,
      description: 'The interaction as it is now.',
      extensions: HOLDS_SHARED,
      resolve: ({ interaction }) => interaction,
    }),
  );
  return ref;
}

function resyncOf(name: string, description: string) {
  const ref = eventOf<Of<Placed, 'resync'>>(name, description);
  builder.objectField(ref, 'reason', (t) =>
    t.string({
      description:
        'Events may be missing: invalid-cursor, log-lost, log-interrupted, window-passed, buffer-overflow.',
      resolve: ({ reason }) => reason,
    }),
  );
  return ref;
}

const SLICE_TYPES = {
  ready: 'SliceReady',
  added: 'ActionAdded',
  updated: 'ActionUpdated',
  removed: 'ActionRemoved',
  resync: 'SliceResync',
} as const satisfies Record<SliceSource['kind'], string>;

const SliceEvent = builder.unionType('SliceEvent', {
  description: 'A change of the actions that carry a ref id.',
  types: [
    eventOf<Of<SliceSource, 'ready'>>(SLICE_TYPES.ready, READY),
    withAction<Extract<SliceSource, WithAction>>(SLICE_TYPES.added, 'A new action in the slice.'),
    withAction<Extract<SliceSource, WithAction>>(
      SLICE_TYPES.updated,
      'An action of the slice was edited, shown again, or its counts changed. Clients that do not know it add it.',
    ),
    ofAction<Of<SliceSource, 'removed'>>(
      SLICE_TYPES.removed,
      'The slice does not contain the action any more, or not for this viewer. Also sent for some that it has never contained.',
    ),
    resyncOf(
      SLICE_TYPES.resync,
      'Changes may be missing here. Query the slice again, then continue from this cursor.',
    ),
  ],
  resolveType: ({ kind }: SliceSource) => SLICE_TYPES[kind],
});

const THREAD_TYPES = {
  ready: 'ActionReady',
  changed: 'ActionChanged',
  added: 'InteractionAdded',
  updated: 'InteractionUpdated',
  removed: 'InteractionRemoved',
  gone: 'ActionGone',
  resync: 'ActionResync',
} as const satisfies Record<ThreadSource['kind'], string>;

const ActionEvent = builder.unionType('ActionEvent', {
  description: 'A change of an action or of its interactions.',
  types: [
    eventOf<Of<ThreadSource, 'ready'>>(THREAD_TYPES.ready, READY),
    withAction<Of<ThreadSource, 'changed'>>(
      THREAD_TYPES.changed,
      'The action was edited, or its counts changed: the latter at most four times a second. After ActionGone, it is shown again.',
    ),
    withInteraction(THREAD_TYPES.added, 'A new interaction, or one that is shown again.'),
    withInteraction(
      THREAD_TYPES.updated,
      'An interaction that has been edited. Clients that do not know it add it.',
    ),
    interactionRemoved(),
    ofAction<Of<ThreadSource, 'gone'>>(
      THREAD_TYPES.gone,
      'The viewer does not see the action any more: it was hidden or deleted, or is for others now. Its interactions are gone with it.',
    ),
    resyncOf(
      THREAD_TYPES.resync,
      'Changes may be missing here. Query the action and its interactions again, then continue from this cursor.',
    ),
  ],
  resolveType: ({ kind }: ThreadSource) => THREAD_TYPES[kind],
});

function interactionRemoved() {
  const ref = eventOf<Extract<ThreadSource, { readonly interactionId: unknown }>>(
    THREAD_TYPES.removed,
    'An interaction was removed or hidden. Also sent for some that the viewer has never seen.',
  );
  builder.objectField(ref, 'interactionId', (t) =>
    t.id({
      description: 'Global id of the interaction.',
      resolve: ({ interactionId }) => encodeInteractionId(interactionId),
    }),
  );
  return ref;
}

const FROM = 'The cursor of an earlier event. Default: only new events.';

builder.subscriptionFields((t) => ({
  sliceEvents: t.field({
    type: SliceEvent,
    description:
      'Changes of the slice of a ref. Starts with SliceReady. With `after`, all events since that cursor come first, once and in order, or SliceResync if that is not possible. Event streams use `Last-Event-ID` as `after`.',
    extensions: HOLDS_SHARED,
    args: {
      refId: t.arg.string({ required: true, description: 'Id of the ref or of the actor.' }),
      filter: t.arg({ type: ActionFilter, description: 'Only entries that match.' }),
      after: t.arg.string({ description: FROM }),
    },
    subscribe: (_root, args, context) =>
      watchSlice(context.core, context.identity(), {
        ...args,
        after: context.lastEventId ?? args.after,
        signal: context.signal,
      }),
    resolve: (event) => event,
  }),
  actionEvents: t.field({
    type: ActionEvent,
    description:
      'Changes of an action and of its interactions, whether or not it is in a feed. Starts with ActionReady. With `after`, all events since that cursor come first, once and in order, or ActionResync if that is not possible. Event streams use `Last-Event-ID` as `after`. NOT_FOUND if the viewer may not see the action.',
    extensions: HOLDS_SHARED,
    args: {
      actionId: t.arg.id({ required: true, description: 'Global id of the action.' }),
      after: t.arg.string({ description: FROM }),
    },
    subscribe: (_root, { actionId, after }, context, info) =>
      watchThread(context.core, context.identity(), {
        actionId: parseActionId(actionId, ['actionId']),
        after: context.lastEventId ?? after,
        withChanges: asksForType(info, THREAD_TYPES.changed),
        signal: context.signal,
      }),
    resolve: (event) => event,
  }),
}));
