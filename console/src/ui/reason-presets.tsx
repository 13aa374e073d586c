import type { ReactNode } from 'react';

/** Of the list that a field for a reason names as its `list`. */
export const PRESETS = 'reason-presets';

/** What moderators say most often, to choose from in the language of the reader; anything else can be typed. */
export function ReasonPresets(): ReactNode {
  return (
    <datalist id={PRESETS}>
      <option>Spam</option>
      <option>Insult or harassment</option>
      <option>Hate speech</option>
      <option>Not true</option>
      <option>Personal data</option>
      <option>Off topic</option>
    </datalist>
  );
}
