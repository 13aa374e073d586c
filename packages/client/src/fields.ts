/** What the screens show beyond what a package needs: GraphQL selections, without braces. */
export interface Fields {
  /** On Action; of the caches instead of `descriptor { type summary }`. Such as the `fields` that `fanfare schema --types` writes. */
  readonly action?: string;
  /** On NewsfeedItem. */
  readonly item?: string;
  /** On Interaction. */
  readonly comment?: string;
  /** On Notification. */
  readonly notification?: string;
}

export interface ClientFields extends Fields {
  /** On NewsfeedItem, instead of what FeedItem has. */
  readonly base?: string;
}
