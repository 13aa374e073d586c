import type { Core } from '../../core/core.ts';
import type { ActionFilter, SliceEvent, ThreadEvent, WatchPlace } from '../../core/shapes.ts';
import { validate } from '../../core/validate.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import type { ActionId, RefId } from '../../domain/action.ts';
import type { Identity } from '../../domain/viewer.ts';
import type { EndSignal } from '../../lib/closer.ts';
import { sliceLog, threadLog, type LiveMessages } from '../../live/live-log.ts';
import { checkActionFilter } from '../page/filters.ts';
import { getAction, noSuchAction } from '../page/read-actions.ts';
import { KeptProfile } from '../session/kept-profile.ts';
import type { EventReaderSession } from '../session/reader-session.ts';
import { Followed, type Extra } from './followed.ts';
import { ActionShown, SliceRules, ThreadRules, type ListFacts } from './list-decisions.ts';
import type {
  DecisionListener,
  EventMessage,
  SharedDecisions,
  Watcher,
  WatchRules,
} from './shared-decisions.ts';
import { ValueWatch } from './value-watch.ts';

/**
 * Follows the slice of a ref. Whether a change is visible is decided when it is sent, by the rules of its page. The protocol is that
 * of feeds; see live/README.md.
 * @throws FanfareError BAD_USER_INPUT; rejects when the live log cannot be reached.
 */
export async function watchSlice(
  core: Core,
  identity: Identity,
  {
    refId,
    filter,
    ...place
  }: WatchPlace & { readonly refId: RefId; readonly filter?: ActionFilter | null | undefined },
): Promise<AsyncIterable<SliceEvent>> {
  const id = validate(idSchema, refId, ['refId']);
  const rules = new SliceRules({ ...checkActionFilter(filter), refId: id });
  const { watcher, messages } = await open(core, identity, { rules, log: sliceLog(id), place });
  return new Followed<SliceEvent, never, ListFacts>(messages, {
    decisions: core.listDecisions,
    ...{ watcher, extra: null, isResumed: place.after != null, signal: place.signal },
  });
}

/**
 * Follows an action and its interactions. Who resumes after it was taken from them receives that it is gone, and nothing else.
 * @throws FanfareError NOT_FOUND when the reader may not see the action; rejects when the live log cannot be reached.
 */
export async function watchThread(
  core: Core,
  identity: Identity,
  {
    actionId,
    withChanges,
    ...place
  }: WatchPlace & { readonly actionId: ActionId; readonly withChanges: boolean },
): Promise<AsyncIterable<ThreadEvent>> {
  const rules = new ThreadRules(actionId);
  const opened = await open(core, identity, { rules, log: threadLog(actionId), place });
  const { watcher, messages, session } = opened;
  const { after = null, signal } = place;
  const action = await orEnd(messages, getAction(session, actionId));
  if (action === null) {
    const first = after === null ? null : await messages.next();
    await messages.return?.();
    if (first === null) throw noSuchAction();
    return goneFor(actionId, first.value?.cursor ?? '', signal);
  }
  return new Followed<ThreadEvent, ActionNow, ListFacts>(messages, {
    decisions: core.listDecisions,
    watcher,
    extra: withChanges ? changesOf(core.listDecisions, { watcher, actionId, signal }) : null,
    ...{ isResumed: after !== null, signal },
  });
}

interface Opened<E> {
  readonly watcher: Watcher<E, ListFacts>;
  readonly messages: LiveMessages;
  readonly session: EventReaderSession;
}

async function open<E>(
  core: Core,
  identity: Identity,
  {
    rules,
    log,
    place: { after, signal },
  }: { readonly rules: WatchRules<E, ListFacts>; readonly log: string; readonly place: WatchPlace },
): Promise<Opened<E>> {
  const kept = new KeptProfile(identity.userId);
  const messages = await core.liveLog.watch({ userId: log, signal, ...(after == null ? {} : { after }) });
  const opening = core.beginWatch(identity, kept).then(async (session) => {
    await session.profile();
    return session;
  });
  const session = await orEnd(messages, opening);
  return { watcher: { identity, rules, kept, isOwnLog: false }, messages, session };
}

async function orEnd<T>(messages: LiveMessages, result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    await messages.return?.();
    throw error;
  }
}

/** Equal for what is hidden from the reader and for what there never was. Waits for the end, so that nobody asks again at once. */
async function* goneFor(
  actionId: ActionId,
  cursor: string,
  signal: EndSignal,
): AsyncGenerator<ThreadEvent, void> {
  yield { kind: 'ready', cursor };
  yield { kind: 'gone', cursor, actionId };
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

/** `null`: the watcher does not see it. */
type ActionNow = ActionShown<'changed'> | null;

type ThreadWatcher = Watcher<ThreadEvent, ListFacts>;

/** The counts of the action, a few times a second at most. Decided as its events are: read once for all who ask at the same time. */
function changesOf(
  decisions: SharedDecisions<ListFacts>,
  {
    watcher,
    actionId,
    signal,
  }: { readonly watcher: ThreadWatcher; readonly actionId: ActionId; readonly signal: EndSignal },
): Extra<ThreadEvent, ActionNow> {
  return {
    open: () =>
      new ValueWatch<ActionNow>({
        read: () =>
          new Promise((resolve, reject) => decisions.decide(watcher, new Look(actionId, resolve, reject))),
        isSame: (one, sent) => one === null || one.action.rev === sent?.action.rev,
        signal,
      }),
    eventOf: (now, cursor) => now?.at(cursor) ?? null,
    isTouchedBy: ({ kind }) => kind === 'interaction',
  };
}

/** Asks for the action as it is now. That it is gone, the log says. */
class Look implements DecisionListener<ThreadEvent> {
  readonly #messages: readonly EventMessage[];
  readonly #resolve: (now: ActionNow) => void;
  readonly failed: (error: unknown) => void;
  readonly changes = 0;

  constructor(actionId: ActionId, resolve: (now: ActionNow) => void, reject: (error: unknown) => void) {
    const event = { kind: 'updated', actionId, relevancy: new Date(0), reasons: [] } as const;
    this.#messages = [{ kind: 'event', cursor: '', event }];
    this.#resolve = resolve;
    this.failed = reject;
  }

  take(): readonly EventMessage[] {
    return this.#messages;
  }

  decided([event = null]: readonly (ThreadEvent | null)[]): void {
    this.#resolve(event instanceof ActionShown && event.kind === 'changed' ? event : null);
  }
}
