/** The API's words as they are said to people. What is not here is said in small letters. */
const WORDS: Readonly<Record<string, string>> = {
  RELEVANCY: 'Most relevant',
  RECENT: 'Newest',
  TOP: 'Most liked',
  PENDING: 'Waiting',
  IN_PROGRESS: 'Delivering',
  DONE: 'Delivered',
  FAILED: 'Failed',
  RETRYING: 'Tried again later',
  PUBLIC: 'everybody',
  FOLLOWERS: 'followers',
  TEAM: 'the team',
  DEPARTMENT: 'the department',
  RESTRICTED: 'named people',
};

const REASONS: Readonly<Record<string, string>> = {
  DEPARTMENT: 'your department',
  FOLLOW: 'you follow this',
  MENTION: 'mentions you',
  PULL: 'you follow this',
  RECIPIENT: 'sent to you',
  RESHARE: 'passed on to you',
  TEAM: 'your team',
};

export function wordFor(word: string): string {
  return WORDS[word] ?? word.toLowerCase().replaceAll('_', ' ');
}

/** Why it is in one's own feed. */
export function reasonFor(reason: string): string {
  return REASONS[reason] ?? wordFor(reason);
}

const STATES: Readonly<Record<string, string>> = { DONE: 'good', FAILED: 'bad' };

/** How a state is marked: `good`, `busy` or `bad`. */
export function markOf(state: string): string {
  return STATES[state] ?? 'busy';
}

/** As a title: "applicationRating" is "Application rating". */
export function titled(name: string): string {
  const words = name.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase();
}
