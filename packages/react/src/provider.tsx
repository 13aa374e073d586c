import {
  createFeedClient,
  FeedClientError,
  type FeedClient,
  type FeedClientOptions,
  type Fields,
} from '@fanfare/client';
import { createContext, useContext, useEffect, useMemo, useState, type ReactNode } from 'react';
import { WHO } from './documents.ts';
import { feedItemFields, type FanfareItem } from './item.ts';
import type { FeedSnapshot } from './store/feed-options.ts';
import { pageLife, type Life } from './store/page-life.ts';
import { oneReader } from './store/one-reader.ts';
import { Reader, type ReaderOffline } from './store/reader.ts';
import { sharedSource } from './store/tabs.ts';
import type { CommonWords, Words } from './more-words.ts';
import { ENGLISH } from './words.ts';

interface Given {
  readonly children?: ReactNode;
  /** Pages that came with the HTML, from `prefetchFeed`: for who is signed in first, not for who comes after. */
  readonly snapshot?: FeedSnapshot | readonly FeedSnapshot[];
  /** False: nothing is asked for, such as before somebody has signed in. Default true. */
  readonly enabled?: boolean;
  /** `shared` (default): one tab of the browser is connected for all. */
  readonly tabs?: 'shared' | 'own';
  /** A page that is hidden for so long, in ms, lets go of its connection; default 30 000. */
  readonly pauseHiddenAfterMs?: number;
  /** What the parts say on their own, such as `german` of `@fanfare/react/more`; default English. */
  readonly words?: Partial<Words>;
  /** What ends the connection, and what waiting does not mend. */
  readonly onError?: (error: Error) => void;
  /** What `openOffline` of `@fanfare/react/offline` gives: lists are shown at once, and likes, comments and marks wait for a connection. Its
   * `readerKey` must be that of the provider. */
  readonly offline?: ReaderOffline | undefined;
  /** Another one clears at once all that was loaded: the id of who is signed in. */
  readonly readerKey?: string;
}

export type FanfareProviderProps = Given &
  (
    | {
        readonly client: FeedClient<FanfareItem>;
        readonly url?: never;
        readonly token?: never;
        readonly fields?: never;
      }
    | {
        readonly client?: never;
        /** Of the GraphQL endpoint. */
        readonly url: string;
        readonly token: FeedClientOptions['token'];
        /** What your components show beyond what the parts need, of every list, bell and thread. */
        readonly fields?: Fields;
      }
  );

interface Provided {
  readonly reader: Reader;
  readonly isEnabled: boolean;
  /** Those of every page, and what the page has given. */
  readonly words: CommonWords;
}

/**
 * What the provider was given last. Each reader has its own: effects of what is inside run before those of the provider, and
 * would ask with the token function of the reader before.
 */
interface Latest {
  props: FanfareProviderProps;
}

interface Made {
  readonly identity: string | FeedClient<FanfareItem>;
  readonly readerKey: string;
  readonly latest: Latest;
  readonly reader: Reader;
  /** Comes when the client's answers are another reader's. */
  readonly end: AbortSignal;
  readonly again: () => void;
}

const Context = createContext<Provided | null>(null);

/** A client as the hooks want it. */
export function createFanfareClient({
  fields,
  ...options
}: Omit<FeedClientOptions, 'fields'> & { readonly fields?: Fields }): FeedClient<FanfareItem> {
  return createFeedClient<FanfareItem>({ ...options, fields: { ...fields, base: feedItemFields } });
}

/** Gives one reader's feed to what is inside. It connects when something inside needs it, never while rendering. */
export function FanfareProvider(props: FanfareProviderProps): ReactNode {
  return <ProviderWith props={props} life={pageLife} />;
}

/** A provider of something else than a page. */
export function ProviderWith({
  props,
  life,
}: {
  readonly props: FanfareProviderProps;
  readonly life: Life;
}): ReactNode {
  const { children, enabled = true, readerKey = '', words } = props;
  const identity = props.client ?? `${props.url} ${typeof props.token === 'string' ? props.token : ''}`;
  const create = (given: FanfareProviderProps): Made => {
    const latest = { props: given };
    const again = (): void => {
      const { onError: _onError, ...next } = latest.props;
      void latest.props.offline?.clear();
      setProvided((last) => (last === made ? create({ ...latest.props, snapshot: [] }) : last));
      // What it still has to say is of the reader before.
      latest.props = next;
    };
    const reader = createReader(given, latest, again);
    const made = { identity, readerKey, latest, reader, end: reader.client.reader, again };
    return made;
  };
  const [provided, setProvided] = useState(() => create(props));
  let current = provided;
  if (provided.identity !== identity || provided.readerKey !== readerKey) {
    // Before anything inside renders: nothing of another reader is ever shown, nor what came with the HTML for that one.
    current = create({ ...props, snapshot: [] });
    setProvided(current);
  }
  const { reader, latest, end, again } = current;
  useEffect(() => {
    latest.props = props;
  });
  const { pauseHiddenAfterMs = 30_000 } = props;
  useEffect(() => life(reader.connection, pauseHiddenAfterMs), [reader, life, pauseHiddenAfterMs]);
  useEffect(() => {
    // A client that was closed is nobody's any more, and stays so.
    if (end.aborted && reader.client.reader !== end) again();
    end.addEventListener('abort', again);
    return () => end.removeEventListener('abort', again);
  }, [reader, end, again]);
  const value = useMemo(
    () => ({ reader, isEnabled: enabled, words: { ...ENGLISH, ...words } }),
    [reader, enabled, words],
  );
  return <Context.Provider value={value}>{children}</Context.Provider>;
}

/** @param again the token function has begun to answer for another reader */
function createReader(props: FanfareProviderProps, latest: Latest, again: () => void): Reader {
  const { client, url, token, fields = {}, snapshot = [], tabs = 'shared', offline } = props;
  const options = {
    snapshots: [snapshot].flat(),
    // What is kept for another reader is not shown to this one.
    offline: offline?.readerKey === props.readerKey ? offline : undefined,
    onError: (error: Error) => latest.props.onError?.(error),
  };
  if (client !== undefined) return new Reader({ ...options, client });
  const clientWith = (given: FeedClientOptions['token']): FeedClient<FanfareItem> =>
    createFanfareClient({
      url: typeof location === 'undefined' ? new URL(url, 'http://localhost').href : url,
      ...{ token: given, fields },
    });
  const whoIs = async (given: string): Promise<string | null> => {
    try {
      // Tabs share what each asks for: one of another release may ask for something else.
      return JSON.stringify([url, fields, await clientWith(given).request<unknown>(WHO)]);
    } catch (error) {
      if (error instanceof FeedClientError && error.code === 'UNAUTHENTICATED') return null;
      throw error;
    }
  };
  const ask = (refused?: string): string | Promise<string> => {
    const { token: now = token } = latest.props;
    return typeof now === 'string' ? now : now(refused);
  };
  // A text is of one reader; another one makes another of these.
  const { token: checked, who } =
    typeof token === 'string' ? { token, who: () => whoIs(token) } : oneReader(ask, whoIs, again);
  const own = clientWith(checked);
  return new Reader({
    ...options,
    client: own,
    source: tabs === 'shared' ? sharedSource(own, who) : undefined,
  });
}

export function useProvided(): Provided {
  const provided = useContext(Context);
  if (provided === null) throw new Error('There is no <FanfareProvider> around this component');
  return provided;
}

interface WordsProps {
  readonly words: Partial<Words>;
  readonly children?: ReactNode;
}

/** Other words for the parts inside than those of the provider, such as for a part of the page in another language. */
export function FanfareWords({ words, children }: WordsProps): ReactNode {
  const { words: all, ...provided } = useProvided();
  return <Context.Provider value={{ ...provided, words: { ...all, ...words } }}>{children}</Context.Provider>;
}

/** What the parts of every page say on their own. */
export function useCommonWords(): CommonWords {
  return useProvided().words;
}

export function useReader(): Reader {
  return useProvided().reader;
}

/**
 * The language in which the server writes sentences, for `lang`. Undefined where it is not known, as before the first answer, or
 * where a page that came with the HTML is in another one.
 */
export function useLanguage(): string | undefined {
  return useContext(Context)?.reader.language();
}
