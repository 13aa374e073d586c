import { builder } from '../../../src/graphql/builder.ts';
import { Viewer } from '../../../src/features/viewer/api.ts';
import { registerPush, unregisterPush } from './register.ts';

builder.objectField(Viewer, 'pushPublicKey', (t) =>
  t.string({
    nullable: true,
    description:
      'The `applicationServerKey` for `pushManager.subscribe` of a browser; null: the server sends no push messages.',
    resolve: (_source, _args, context) => context.core.pushPublicKey ?? null,
  }),
);

builder.mutationFields((t) => ({
  registerPush: t.boolean({
    description:
      'Registers a browser of the viewer for push messages: the values of its `PushSubscription`. A member has at most 20; the newest are kept. CONFLICT if the server sends no push messages.',
    args: {
      endpoint: t.arg.string({ required: true, description: 'URL of the push service, https.' }),
      p256dh: t.arg.string({ required: true, description: 'Its public key, in base64url.' }),
      auth: t.arg.string({ required: true, description: 'Its authentication secret, in base64url.' }),
    },
    async resolve(_root, args, context) {
      await context.mutate((session) => registerPush(context.core, session, args));
      return true;
    },
  }),
  unregisterPush: t.boolean({
    description: 'Forgets a browser of the viewer. False: it was not registered for them.',
    args: { endpoint: t.arg.string({ required: true, description: 'URL of the push service.' }) },
    resolve: (_root, { endpoint }, context) =>
      context.mutate((session) => unregisterPush(context.core, session, endpoint)),
  }),
}));
