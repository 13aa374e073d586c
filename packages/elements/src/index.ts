/**
 * Custom elements for a Fanfare server. Importing this package defines `<fanfare-feed>`, `<fanfare-bell>`, `<fanfare-thread>` and
 * `<fanfare-slice>`; in what is rendered on a server it does nothing.
 */
import type { ActionFilter, FeedFilter, Notification, SummaryPart } from '@fanfare/client';
import type { Words } from './words.ts';

export type { ActionFilter, FeedFilter, Notification, SummaryPart, Words };

/** Gives a token, and another one when the server has refused the last. */
export type GetToken = (refused?: string) => string | Promise<string>;

/** What all of them have. Each text is an attribute too, with dashes: `action-id`. */
export interface FanfareElement extends HTMLElement {
  /** Of the GraphQL endpoint. Default: beside the script if the server serves it, otherwise `/graphql` of the page. */
  server: string;
  /** Of the reader; empty: nothing is asked for, and what stands between the tags stays. It is not written back as an attribute. */
  token: string;
  /**
   * Instead of a token: one that the server refuses is replaced. Elements with the same function share one client and one socket, and it
   * is asked once for all of them. Another reader needs another function.
   */
  getToken: GetToken | undefined;
  /** What it is called for assistive technology. */
  label: string;
  /** `light`, `dark` or `auto`, with a background of its own; empty: what the page says. */
  theme: string;
  /** What it says on its own, all or some of it. Default: German where `lang` says so, otherwise English. */
  words: Partial<Words> | undefined;
  /** The address of a person or thing in a sentence; undefined: no link. */
  hrefOf: ((part: SummaryPart) => string | undefined) | undefined;
}

/** A list of the reader's feed. Slots: `empty`; what has none is shown until the first page is there. */
export interface FanfareFeedElement extends FanfareElement {
  /** The name of a view of the server's configuration, instead of the whole feed. */
  view: string;
  /** Id of a list of the reader, instead of the whole feed. Not beside `view`. */
  listId: string;
  /** Items of a page, 1 to 100; default 25. */
  first: number;
  /** Offered beside the like, with spaces between: `👏 🎉`. */
  reactions: string;
  /** Empty: what is new waits until the reader asks for it or is at the top. `insert`: it is shown at once. */
  live: string;
  filter: FeedFilter | undefined;
}

/** A button with the number of new notifications, which opens their list. Slots: `icon`, `empty`. */
export interface FanfareBellElement extends FanfareElement {
  /** What a notification leads to; undefined: a button, for `fanfare-open`. */
  linkTo: ((notification: Notification) => string | undefined) | undefined;
}

/** The comments of an action, with a field to write one. */
export interface FanfareThreadElement extends FanfareElement {
  actionId: string;
}

/** All visible actions of a person or a thing. Slots: `empty`. */
export interface FanfareSliceElement extends FanfareElement {
  refId: string;
  /** Items of a page, 1 to 100; default 25. */
  first: number;
  /** Offered beside the like, with spaces between. */
  reactions: string;
  filter: ActionFilter | undefined;
}

/** By tag. */
export type FanfareTags = Pick<
  HTMLElementTagNameMap,
  'fanfare-feed' | 'fanfare-bell' | 'fanfare-thread' | 'fanfare-slice'
>;

/** By name. They bubble, out of shadow roots as well. */
export type FanfareEvents = Pick<
  GlobalEventHandlersEventMap,
  'fanfare-ready' | 'fanfare-error' | 'fanfare-open'
>;

type Dashed<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `-${Lowercase<Head>}`}${Dashed<Tail>}`
  : Name;
type Own<Tag extends keyof FanfareTags> = Exclude<keyof FanfareTags[Tag], keyof HTMLElement> & string;

/** Attributes and properties by tag, for the JSX of a framework: docs/elements.md says how. */
export type FanfareAttributes = {
  readonly [Tag in keyof FanfareTags]: Partial<Pick<FanfareTags[Tag], Own<Tag>>> & {
    readonly [
      Name in Own<Tag> as FanfareTags[Tag][Name] extends string | number ? Dashed<Name> : never
    ]?: FanfareTags[Tag][Name];
  };
};

declare global {
  interface HTMLElementTagNameMap {
    'fanfare-feed': FanfareFeedElement;
    'fanfare-bell': FanfareBellElement;
    'fanfare-thread': FanfareThreadElement;
    'fanfare-slice': FanfareSliceElement;
  }
  interface GlobalEventHandlersEventMap {
    /** The first data is there. */
    'fanfare-ready': CustomEvent<null>;
    /** Something failed: what ends the connection, or a write, which is shown as it was before. */
    'fanfare-error': CustomEvent<Error>;
    /** A notification was opened, and is marked as read. */
    'fanfare-open': CustomEvent<Notification>;
  }
}
