import type { EndSignal } from '../lib/ending.ts';
import { FanfareError } from '../domain/errors.ts';
import type { Identity } from '../domain/viewer.ts';
import { DEFAULT_LOCALE, type Locale } from '../descriptors/locale.ts';
import type { ReaderSession } from '../services/session/reader-session.ts';
import type { Services } from '../services/create-services.ts';

/** What resolvers get. One per operation, and one per event of a subscription. */
export interface GraphQLContext {
  readonly services: Services;
  /** Who asks. Throws UNAUTHENTICATED where nobody does, which only introspection may. */
  identity(): Identity;
  /** The loaders of this operation or event; opened when first asked for. */
  session(): ReaderSession;
  /** Runs one mutation on a session of its own; its answer, and the next mutation of the operation, read again. */
  mutate<T>(work: (session: ReaderSession) => Promise<T>): Promise<T>;
  /** The last event that a client of a stream has seen before; goes before the argument `after`. */
  readonly lastEventId?: string | undefined;
  /** The language of sentences where a field does not ask for another; a subscription keeps the one it began with. */
  readonly locale: Locale;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: EndSignal;
}

export interface ContextOptions {
  /** Opens the session of reads; mutations have a request's. */
  readonly openSession?: (identity: Identity) => ReaderSession;
  readonly lastEventId?: string | undefined;
  readonly locale?: Locale;
}

export function createContext(
  services: Services,
  identity: Identity | null,
  signal: EndSignal,
  options: ContextOptions = {},
): GraphQLContext {
  return new OperationContext(services, identity, signal, options);
}

/** A class, and not functions in an object: every open subscription keeps one, and every event is shown by one. */
class OperationContext implements GraphQLContext {
  readonly services: Services;
  readonly signal: EndSignal;
  readonly lastEventId: string | undefined;
  readonly locale: Locale;
  readonly #identity: Identity | null;
  readonly #openSession: ContextOptions['openSession'];
  #session: ReaderSession | undefined;

  constructor(
    services: Services,
    identity: Identity | null,
    signal: EndSignal,
    { openSession, lastEventId, locale }: ContextOptions,
  ) {
    this.services = services;
    this.signal = signal;
    this.lastEventId = lastEventId;
    this.locale = locale ?? DEFAULT_LOCALE;
    this.#identity = identity;
    this.#openSession = openSession;
  }

  identity(): Identity {
    if (this.#identity === null) throw new FanfareError('UNAUTHENTICATED', 'This needs a token');
    return this.#identity;
  }

  session(): ReaderSession {
    return (this.#session ??= this.#open(this.identity()));
  }

  async mutate<T>(work: (session: ReaderSession) => Promise<T>): Promise<T> {
    this.#session = undefined;
    return work(this.services.openSession(this.identity()));
  }

  #open(reader: Identity): ReaderSession {
    return this.#openSession?.(reader) ?? this.services.openSession(reader);
  }
}
