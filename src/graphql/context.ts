import { FanfareError } from '../domain/errors.ts';
import type { Identity } from '../domain/viewer.ts';
import type { ReaderSession } from '../services/reader-session.ts';
import type { Services } from '../services/services.ts';

/** What resolvers get. One per operation, and one per event of a subscription. */
export interface GraphQLContext {
  readonly services: Services;
  /** Who asks. Throws UNAUTHENTICATED where nobody does, which only introspection may. */
  identity(): Identity;
  /** The loaders of this operation or event; opened when first asked for. */
  session(): ReaderSession;
  /**
   * Runs one mutation on a session of its own and forgets what was loaded: what the answer shows, and what a further
   * mutation of the same operation goes by, is read anew.
   */
  mutate<T>(work: (session: ReaderSession) => Promise<T>): Promise<T>;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** @param openSession opens the session of reads; mutations have a request's. */
export function createContext(
  services: Services,
  identity: Identity | null,
  signal: AbortSignal,
  openSession: (identity: Identity) => ReaderSession = (reader) => services.openSession(reader),
): GraphQLContext {
  let session: ReaderSession | undefined;
  function who(): Identity {
    if (identity === null) throw new FanfareError('UNAUTHENTICATED', 'This needs a token');
    return identity;
  }
  return {
    services,
    signal,
    identity: who,
    session: () => (session ??= openSession(who())),
    async mutate(work) {
      session = undefined;
      return work(services.openSession(who()));
    },
  };
}
