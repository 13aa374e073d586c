import type { EndSignal } from '../lib/closer.ts';
import { FanfareError } from '../domain/errors.ts';
import type { Identity } from '../domain/viewer.ts';
import { DEFAULT_LOCALE, type Locale } from '../descriptors/locale.ts';
import type { ReaderSession } from '../feed/session/reader-session.ts';
import type { Core } from '../core/core.ts';
import type { Answer } from './rendering/answer.ts';
import { openSession } from '../feed/session/open-session.ts';

/** Context of resolvers, one per operation and one per subscription event. */
export interface GraphQLContext {
  readonly core: Core;
  /** The caller. Throws UNAUTHENTICATED if there is none, which is allowed only for introspection. */
  identity(): Identity;
  /** Loaders of this operation or event, created on first use. */
  session(): ReaderSession;
  /** Runs one mutation in a session of its own. Its result and later mutations read fresh data. */
  mutate<T>(work: (session: ReaderSession) => Promise<T>): Promise<T>;
  /** Last event a reconnecting stream client has received; takes precedence over the argument `after`. */
  readonly lastEventId?: string | undefined;
  /** Default language of sentences; a subscription keeps the one it started with. */
  readonly locale: Locale;
  /** Counts the size of the answer. Absent: the answer is for this process itself and not limited. */
  readonly answer?: Answer | undefined;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: EndSignal;
}

export interface ContextOptions {
  /** Opens the session for reads; mutations use request sessions. */
  readonly openSession?: (identity: Identity) => ReaderSession;
  readonly lastEventId?: string | undefined;
  readonly locale?: Locale;
  readonly answer?: Answer;
}

export function createContext(
  core: Core,
  identity: Identity | null,
  signal: EndSignal,
  options: ContextOptions = {},
): GraphQLContext {
  return new OperationContext(core, identity, signal, options);
}

/** A class instead of an object of functions: every open subscription and every rendered event has one. */
class OperationContext implements GraphQLContext {
  readonly core: Core;
  readonly signal: EndSignal;
  readonly lastEventId: string | undefined;
  readonly locale: Locale;
  readonly answer: Answer | undefined;
  readonly #identity: Identity | null;
  readonly #openSession: ContextOptions['openSession'];
  #session: ReaderSession | undefined;

  constructor(
    core: Core,
    identity: Identity | null,
    signal: EndSignal,
    { openSession, lastEventId, locale, answer }: ContextOptions,
  ) {
    this.core = core;
    this.signal = signal;
    this.lastEventId = lastEventId;
    this.locale = locale ?? DEFAULT_LOCALE;
    this.answer = answer;
    this.#identity = identity;
    this.#openSession = openSession;
  }

  identity(): Identity {
    if (this.#identity === null) throw new FanfareError('UNAUTHENTICATED', 'This requires a token');
    return this.#identity;
  }

  session(): ReaderSession {
    return (this.#session ??= this.#open(this.identity()));
  }

  async mutate<T>(work: (session: ReaderSession) => Promise<T>): Promise<T> {
    this.#session = undefined;
    return work(openSession(this.core, this.identity()));
  }

  #open(reader: Identity): ReaderSession {
    return this.#openSession?.(reader) ?? openSession(this.core, reader, this.answer?.reading);
  }
}
