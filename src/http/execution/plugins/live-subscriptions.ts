import type { ExecutionArgs, ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { isWritten, type EventRenderer, type LiveRendering, withEventId } from '../live-rendering.ts';
import { createContext, type GraphQLContext } from '../../../graphql/context.ts';
import { apiError, withFirstRefusal } from '../../../graphql/errors.ts';
import { FIRST_FAULT } from '../../../graphql/limits/variables.ts';
import { Answer } from '../../../graphql/rendering/answer.ts';
import { runSubscription, type ResultStreamOptions } from '../../../graphql/result-stream.ts';
import type { Action } from '../../../domain/action.ts';
import type { Identity } from '../../../domain/viewer.ts';
import { Ending, OnDispose } from '../../../lib/closer.ts';
import type { HttpContext } from '../../http-context.ts';
import type { SharedEvent } from '../../../core/shapes.ts';
import type { Caller } from '../../identity/auth.ts';
import type { RequestContext } from '../operation-context.ts';
import { clock } from '../../../lib/clock.ts';
import { tracedEntry } from '../../../telemetry/tracing.ts';

/** A push later than this was not caused by the pass that the change requested. */
const PUSHED_WITHIN_MS = 900_000;
/** A process may have thousands of watchers; the first pushes represent all of them. */
const MOST_PUSHES = 100;
const MOST_TRACES = 1_000;

function actionIn(event: SharedEvent): Action | null {
  if ('item' in event) return event.item.action;
  return 'action' in event ? event.action : null;
}

/** Renders a live event as a part of the trace that changed its action. */
function tracedPushes(): <T>(event: SharedEvent, present: () => T) => T {
  const pushes = new Map<string, number>();
  return (event, present) => {
    const trace = actionIn(event)?.fanOut.trace;
    if (trace === undefined || clock.time() - trace.at.getTime() > PUSHED_WITHIN_MS) return present();
    const count = (pushes.get(trace.parent) ?? 0) + 1;
    if (count > MOST_PUSHES) return present();
    if (pushes.size >= MOST_TRACES) pushes.clear();
    pushes.set(trace.parent, count);
    const attributes = { 'fanfare.event': event.kind };
    return tracedEntry('push', { parent: trace.parent, kind: 'consumer', attributes }, present);
  };
}

interface SubscriptionParts extends HttpContext {
  readonly rendering: LiveRendering;
  readonly inTrace: ReturnType<typeof tracedPushes>;
}

type SubscribeContext = RequestContext & GraphQLContext & { readonly request?: Request };

/** Runs subscriptions over any transport: counted, with new loaders per event, and ended at once when the client leaves. */
export function liveSubscriptions(http: HttpContext, rendering: LiveRendering): Plugin {
  const parts = { ...http, rendering, inTrace: tracedPushes() };
  return {
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn((args: ExecutionArgs) => subscribe(parts, args));
    },
  };
}

async function subscribe(parts: SubscriptionParts, args: ExecutionArgs) {
  const { caller, ...asked } = args.contextValue as SubscribeContext;
  const { identity, transport } = caller;
  if (identity === null) return { errors: [apiError('UNAUTHENTICATED', 'This requires a token')] };
  const place = parts.quota.take(identity.userId);
  if (place === null)
    return { errors: [apiError('RATE_LIMITED', 'Too many open subscriptions of this user')] };
  const subscription = new LiveSubscription(parts, args, { ...asked, identity, transport, place });
  const contextValue = subscription.context();
  const result = await runSubscription({ ...args, contextValue, options: FIRST_FAULT }, subscription);
  if (!(Symbol.asyncIterator in result)) return withFirstRefusal(result);
  asked.frames?.carry(result);
  return result;
}

interface Subscriber extends Pick<SubscribeContext, 'lastEventId' | 'locale' | 'request' | 'frames'> {
  readonly identity: Identity;
  readonly transport: Caller['transport'];
  readonly place: Disposable;
}

/** A class instead of an object of functions, since every open subscription has one. */
class LiveSubscription implements ResultStreamOptions {
  readonly #parts: SubscriptionParts;
  /** Without a context: every event has its own. */
  readonly #args: ExecutionArgs;
  readonly #identity: Identity;
  readonly #isSocket: boolean;
  readonly #place: Disposable;
  readonly #gauge: Disposable;
  readonly #renderer: EventRenderer;
  readonly #ending = new Ending();
  readonly #locale: GraphQLContext['locale'];
  readonly #lastEventId: string | undefined;
  readonly #frames: SubscribeContext['frames'];
  readonly #leaving: Disposable | null;

  constructor(parts: SubscriptionParts, args: ExecutionArgs, subscriber: Subscriber) {
    const { request, transport } = subscriber;
    this.#parts = parts;
    this.#args = { ...args, contextValue: undefined };
    this.#identity = subscriber.identity;
    this.#isSocket = transport === 'websocket';
    this.#place = subscriber.place;
    this.#gauge = parts.metrics.subscriberOpened(this.#isSocket ? 'websocket' : 'sse');
    this.#renderer = parts.rendering.open(args, subscriber.locale);
    this.#locale = subscriber.locale;
    this.#lastEventId = subscriber.lastEventId;
    this.#frames = subscriber.frames;
    this.#leaving = request === undefined ? null : this.#endWith(request.signal);
  }

  context(event?: SharedEvent): GraphQLContext {
    const { core } = this.#parts;
    const { userId } = this.#identity;
    return createContext(core, this.#identity, this.#ending, {
      openSession: (reader) =>
        event !== undefined && 'session' in event ? event.session : core.openEventSession(reader),
      ...(this.#lastEventId === undefined
        ? {}
        : { lastEventId: core.cursors.given(userId, this.#lastEventId) }),
      locale: this.#locale,
      answer: new Answer(this.#parts.limits),
    });
  }

  present(event: unknown): ExecutionResult | Promise<ExecutionResult> {
    const { rendering } = this.#parts;
    const rendered = this.#render(event as SharedEvent);
    const shown =
      rendered instanceof Promise
        ? rendered.then((result) => rendering.finish(result))
        : rendering.finish(rendered);
    if (!this.#isSocket) return this.#withId(shown, event as SharedEvent);
    const { observer } = this.#parts;
    // Over HTTP, Yoga does it.
    return shown instanceof Promise
      ? shown.then((result) => withPresented(result, observer))
      : withPresented(shown, observer);
  }

  prepare(events: readonly unknown[], wake: () => void): boolean {
    return this.#renderer.prepare(events as readonly SharedEvent[], (event) => this.#argsOf(event), wake);
  }

  send(shown: ExecutionResult, isFollowed: boolean): Promise<void> | 'sent' | null {
    return this.#frames !== undefined && isWritten(shown) ? this.#frames.send(shown.bytes, isFollowed) : null;
  }

  onEnd(): void {
    this.#leaving?.[Symbol.dispose]();
    this.#ending.abort();
    this.#place[Symbol.dispose]();
    this.#gauge[Symbol.dispose]();
    this.#renderer[Symbol.dispose]();
  }

  presentError(error: unknown): ExecutionResult {
    return { errors: [this.#parts.observer.presentError(error)] };
  }

  onEvent(event: unknown): void {
    const notified = event as SharedEvent;
    this.#parts.metrics.liveEventSent(notified.kind);
    if (notified.kind === 'resync') this.#parts.metrics.liveResync(notified.reason);
  }

  #render(event: SharedEvent): ExecutionResult | Promise<ExecutionResult> {
    return this.#parts.inTrace(event, () => this.#renderer.render(event, () => this.#argsOf(event)));
  }

  async #withId(
    shown: ExecutionResult | Promise<ExecutionResult>,
    { cursor }: SharedEvent,
  ): Promise<ExecutionResult> {
    const { cursors } = this.#parts.core;
    return withEventId(await shown, cursors.shown(this.#identity.userId, cursor));
  }

  #argsOf(event: SharedEvent): ExecutionArgs {
    return { ...this.#args, rootValue: event, contextValue: this.context(event) };
  }

  #endWith(signal: AbortSignal): Disposable {
    const onAbort = (): void => this.onEnd();
    signal.addEventListener('abort', onAbort);
    return new OnDispose(() => signal.removeEventListener('abort', onAbort));
  }
}

/** The result with its errors as clients may see them. */
function withPresented(result: ExecutionResult, { presentError }: HttpContext['observer']): ExecutionResult {
  return result.errors === undefined
    ? result
    : { ...result, errors: result.errors.map((error) => presentError(error)) };
}
