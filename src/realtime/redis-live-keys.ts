/** Names under the caller's prefix; listed in README.md. The scripts build the same names. */
export function hintChannel(prefix: string, processName: string): string {
  return `${prefix}live:hints:${processName}`;
}

export function watchedKey(prefix: string): string {
  return `${prefix}live:watched`;
}

export function endedChannel(prefix: string): string {
  return `${prefix}live:ended`;
}

export function workChannel(prefix: string): string {
  return `${prefix}work`;
}

/** Exists once a worker has taken the offer. */
export function takenKey(prefix: string, offerId: string): string {
  return `${prefix}work:taken:${offerId}`;
}
