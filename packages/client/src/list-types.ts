import type { ActionFilter, ActionState, Interaction } from './mutation-types.ts';
import type { FeedItem, SummaryPart, Watching } from './types.ts';

/** An action in a list of its own, not in a feed. */
export type ListedAction = FeedItem['action'] &
  ActionState & { readonly descriptor: { readonly summaryParts: readonly SummaryPart[] } };

/** A change of a slice. Every event carries the cursor from which to resume after it. */
export type SliceEvent = { readonly cursor: string } & (
  | { readonly __typename: 'ActionAdded'; readonly action: ListedAction }
  /** The action as it is now, which the list may not have had. */
  | { readonly __typename: 'ActionUpdated'; readonly action: ListedAction }
  | { readonly __typename: 'ActionRemoved'; readonly actionId: string }
);

/** A change of an action or of its interactions. Every event carries the cursor from which to resume after it. */
export type ActionEvent = { readonly cursor: string } &
  /** After ActionGone: it is back, and its interactions have to be read again. */
  (
    | { readonly __typename: 'ActionChanged'; readonly action: ActionState }
    | { readonly __typename: 'InteractionAdded'; readonly interaction: Interaction }
    /** The interaction as it is now, which the list may not have had. */
    | { readonly __typename: 'InteractionUpdated'; readonly interaction: Interaction }
    | { readonly __typename: 'InteractionRemoved'; readonly interactionId: string }
    | { readonly __typename: 'ActionGone'; readonly actionId: string }
  );

type Without<Options> = Omit<Options, 'unread'>;
export type SliceWatchOptions = Without<Watching<SliceEvent, ActionFilter>> & { readonly refId: string };
export type ActionWatchOptions = Without<Omit<Watching<ActionEvent, never>, 'filter'>> & {
  readonly actionId: string;
};
