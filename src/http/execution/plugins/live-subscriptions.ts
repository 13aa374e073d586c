import type { ExecutionArgs, ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { isWritten, type LiveRendering } from '../live-rendering.ts';
import { createContext, type GraphQLContext } from '../../../graphql/context.ts';
import { apiError, withFirstRefusal } from '../../../graphql/errors.ts';
import { FIRST_FAULT } from '../../../graphql/limits/variables.ts';
import { runSubscription } from '../../../graphql/result-stream.ts';
import { Ending } from '../../../lib/ending.ts';
import type { Services } from '../../../services/create-services.ts';
import type { FeedEvent } from '../../../services/shapes.ts';
import type { Metrics } from '../../../telemetry/metrics.ts';
import { withEventId } from '../event-ids.ts';
import type { RequestObserver } from '../../exchange/observe.ts';
import type { RequestContext } from '../operation-context.ts';
import type { SubscriptionQuota } from '../subscription-quota.ts';
import { tracedPushes } from './traced-pushes.ts';

export interface LiveSubscriptionsOptions {
  readonly services: Services;
  readonly rendering: LiveRendering;
  readonly quota: SubscriptionQuota;
  readonly metrics: Pick<Metrics, 'subscriberOpened' | 'liveEventSent' | 'liveResync'>;
  readonly observer: Pick<RequestObserver, 'presentError'>;
}

type SubscribeContext = RequestContext & GraphQLContext & { readonly request?: Request };

/** Runs subscriptions over any transport: counted, with new loaders per event, and ended at once when the client leaves. */
export function liveSubscriptions(options: LiveSubscriptionsOptions): Plugin {
  const inTrace = tracedPushes();
  return {
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn((args: ExecutionArgs) => subscribe({ ...options, inTrace }, args));
    },
  };
}

async function subscribe(
  options: LiveSubscriptionsOptions & { readonly inTrace: ReturnType<typeof tracedPushes> },
  args: ExecutionArgs,
) {
  const { services, rendering, quota, metrics, observer, inTrace } = options;
  const { caller, lastEventId, locale, request, frames } = args.contextValue as SubscribeContext;
  const { identity, transport } = caller;
  if (identity === null) return { errors: [apiError('UNAUTHENTICATED', 'This needs a token')] };
  const place = quota.take(identity.userId);
  if (place === null)
    return { errors: [apiError('RATE_LIMITED', 'Too many open subscriptions of this user')] };

  const gauge = metrics.subscriberOpened(transport === 'websocket' ? 'websocket' : 'sse');
  const ending = new Ending();
  const renderer = rendering.open(args, locale);
  function onEnd(): void {
    request?.signal.removeEventListener('abort', onEnd);
    ending.abort();
    place?.[Symbol.dispose]();
    gauge[Symbol.dispose]();
    renderer[Symbol.dispose]();
  }
  request?.signal.addEventListener('abort', onEnd);

  const context = (event?: FeedEvent): ReturnType<typeof createContext> =>
    createContext(services, identity, ending, {
      openSession: (reader) =>
        event !== undefined && 'session' in event ? event.session : services.openEventSession(reader),
      ...(lastEventId === undefined
        ? {}
        : { lastEventId: services.cursors.given(identity.userId, lastEventId) }),
      locale,
    });
  const shownCursor = ({ cursor }: FeedEvent): string => services.cursors.shown(identity.userId, cursor);
  const executed: ExecutionArgs = { ...args, contextValue: undefined };
  const argsOf = (event: FeedEvent): ExecutionArgs => ({
    ...{ ...executed, rootValue: event },
    contextValue: context(event),
  });
  const render = (event: FeedEvent): ExecutionResult | Promise<ExecutionResult> =>
    inTrace(event, () => renderer.render(event, () => argsOf(event)));
  const result = await runSubscription(
    { ...args, contextValue: context(), options: FIRST_FAULT },
    {
      present:
        transport === 'websocket'
          ? (event) => render(event as FeedEvent)
          : async (event) => withEventId(await render(event as FeedEvent), shownCursor(event as FeedEvent)),
      prepare: (events, wake) => renderer.prepare(events as readonly FeedEvent[], argsOf, wake),
      send:
        frames === undefined
          ? undefined
          : (shown, isFollowed) => (isWritten(shown) ? frames.send(shown.bytes, isFollowed) : null),
      onEnd,
      presentError: (error) => ({ errors: [observer.presentError(error)] }),
      onEvent(event) {
        const notified = event as FeedEvent;
        metrics.liveEventSent(notified.kind);
        if (notified.kind === 'resync') metrics.liveResync(notified.reason);
      },
    },
  );
  return Symbol.asyncIterator in result ? result : withFirstRefusal(result);
}
