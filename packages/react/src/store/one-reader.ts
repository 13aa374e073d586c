import { FeedClientError } from '@fanfare/client';

/** Gives a token, as the host's function does. */
type Ask = (refused?: string) => string | Promise<string>;

interface Known {
  readonly token: string;
  readonly who: Promise<string | null>;
}

/**
 * The tokens of one reader. Who each is of the server says, beside the first and before any other is used.
 * @param whoIs null: nobody's
 * @param onOther the function begins to answer for somebody else; then no token is given any more
 */
export function oneReader(
  ask: Ask,
  whoIs: (token: string) => Promise<string | null>,
  onOther: () => void,
): { readonly token: (refused?: string) => Promise<string>; readonly who: () => Promise<string | null> } {
  /** Whose things are shown; null: not known yet. */
  let shown: string | null = null;
  let first: Known | undefined;
  let last: Known | undefined;
  const look = async (refused?: string): Promise<Known> => {
    const token = await ask(refused);
    if (last?.token === token && refused === undefined) return last;
    const known = (last = { token, who: whoIs(token) });
    known.who.catch(() => {
      // It is asked for again with the next request.
      if (last === known) last = undefined;
    });
    return known;
  };
  const check = async (refused?: string): Promise<Known> => {
    const known = await look(refused);
    const { token, who } = known;
    first ??= known;
    if (token === first.token)
      who.then(
        (is) => {
          shown ??= is;
        },
        () => undefined,
      );
    else {
      await first.who.catch(() => null);
      const is = await who;
      shown ??= is;
      if (is !== null && is !== shown) {
        onOther();
        throw new FeedClientError('UNAUTHENTICATED', 'The token is of another reader');
      }
    }
    return known;
  };
  return {
    token: async (refused) => (await check(refused)).token,
    who: async () => (await check()).who,
  };
}
