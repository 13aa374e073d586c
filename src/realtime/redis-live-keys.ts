import type { UserId } from '../domain/action.ts';

/** Names under the caller's prefix; the table of them is in README.md. The scripts build the same names. */
export function channelOf(prefix: string, userId: UserId): string {
  return `${prefix}live:to:${userId}`;
}

/** The reader of a channel; null when it is not one of ours. */
export function readerOf(prefix: string, channel: string): UserId | null {
  const start = `${prefix}live:to:`;
  return channel.startsWith(start) ? channel.slice(start.length) : null;
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
