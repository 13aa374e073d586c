import { setTimeout } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { createFeedSocket, type FeedSocket } from '../../../docs/examples/frontends/feed-socket.ts';
import type { Offline } from '@fanfare/client/offline';
import type { TestApp } from '../app.ts';

/** What a screen shows of an item. */
export interface Shown {
  readonly actionId: string;
  readonly relevancy: string;
  readonly likes: number;
  readonly comments: number;
  readonly hasLiked: boolean;
}

/** A reader's feed as a frontend shows it. Disposing leaves the page. */
export interface Screen extends AsyncDisposable {
  /** From here on, new and moved items wait. */
  hold(): void;
  show(): void;
  items(): readonly Shown[];
  hasNextPage(): boolean;
  loadMore(): Promise<unknown>;
  /** Rejects when the server refuses or cannot be reached. */
  like(actionId: string): Promise<unknown>;
  unlike(actionId: string): Promise<unknown>;
  /** Asks for the likes of one action by a query of its own, as the page of an action does. */
  readAction?(actionId: string): Promise<unknown>;
}

export interface ScreenOptions {
  /** Of requests. Default: the app itself. */
  readonly url?: string;
  /** Of live events. Default: the app itself. */
  readonly wsUrl?: string;
  /** Default 50. */
  readonly first?: number;
  /** Whether live events are shown. Default true. */
  readonly isLive?: boolean;
  readonly onHeld?: (count: number) => void;
}

/** What a frontend has to have to be opened on a screen. */
export interface Setting {
  readonly url: string;
  readonly wsUrl: string;
  readonly getToken: () => Promise<string>;
  readonly onHeld: (count: number) => void;
  /** For those that have no client of their own. */
  openSocket(): FeedSocket;
  readonly first: number;
  readonly isLive: boolean;
  /** Of the packages: what is kept in the browser. */
  readonly offline?: Offline;
  /** Of the packages: told of each message that is sent over the socket. */
  readonly onSent?: (message: string) => void;
}

export type OpenScreen = (setting: Setting) => Promise<Screen>;

/** Opens the feed of `sub`: the first page is there, and live events come. */
export function openScreen(
  open: OpenScreen,
  app: Pick<TestApp, 'url' | 'wsUrl' | 'token'>,
  sub: string,
  options?: ScreenOptions,
): Promise<Screen> {
  return open(openSetting(app, sub, options));
}

export function openSetting(
  app: Pick<TestApp, 'url' | 'wsUrl' | 'token'>,
  sub: string,
  {
    url = app.url,
    wsUrl = app.wsUrl,
    first = 50,
    isLive = true,
    onHeld = () => undefined,
  }: ScreenOptions = {},
): Setting {
  const getToken = (): Promise<string> => app.token(sub);
  const openSocket = (): FeedSocket =>
    createFeedSocket(
      {
        url: wsUrl,
        webSocketImpl: WebSocket,
        connectionParams: async () => ({ token: await getToken() }),
        retryWait: () => setTimeout(20),
      },
      onHeld,
    );
  return { url: `${url}/graphql`, wsUrl, getToken, onHeld, openSocket, first, isLive };
}

interface Item {
  readonly relevancy: string;
  readonly action: {
    readonly id: string;
    readonly engagement: { readonly likes: number; readonly comments: number };
    readonly viewer: { readonly hasLiked: boolean };
  };
}

export function shownItems(
  feed: { readonly edges: readonly { readonly node: Item }[] } | undefined,
): readonly Shown[] {
  return (feed?.edges ?? []).map(({ node: { relevancy, action } }) => ({
    ...{ actionId: action.id, relevancy, hasLiked: action.viewer.hasLiked },
    ...{ likes: action.engagement.likes, comments: action.engagement.comments },
  }));
}

/** The action as a list shows it. */
export function actionIn<I extends Item>(
  feed: { readonly edges: readonly { readonly node: I }[] } | undefined,
  actionId: string,
): I['action'] {
  const found = feed?.edges.find(({ node }) => node.action.id === actionId);
  if (found === undefined) throw new Error(`Not on the screen: ${actionId}`);
  return found.node.action;
}
