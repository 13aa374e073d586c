/** Activities of ActivityStreams 2.0 as which an action can be shown to others. */
export const ACTIVITIES = [
  'Accept',
  'Activity',
  'Add',
  'Announce',
  'Arrive',
  'Block',
  'Create',
  'Delete',
  'Dislike',
  'Flag',
  'Follow',
  'Ignore',
  'Invite',
  'Join',
  'Leave',
  'Like',
  'Listen',
  'Move',
  'Offer',
  'Read',
  'Reject',
  'Remove',
  'TentativeAccept',
  'TentativeReject',
  'Travel',
  'Undo',
  'Update',
  'View',
] as const;

export type Activity = (typeof ACTIVITIES)[number];

/** One of them, or the name of a text field in braces: its text counts if it is one of them, in any case. */
export type ActivityDeclaration = Activity | `{${string}}`;

/** As which an action of no other is shown. */
export const ANY_ACTIVITY = 'Activity' satisfies Activity;

/** The field in braces; `null`: there is none. */
export function activityField(declared: string): string | null {
  return /^\{(.*)\}$/.exec(declared)?.[1] ?? null;
}

export function activityNamed(text: string): Activity | undefined {
  const name = text.toLowerCase();
  return ACTIVITIES.find((one) => one.toLowerCase() === name);
}
