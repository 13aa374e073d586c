import type { RedisClient } from './redis.ts';

/** Publish and subscribe on a single Redis, or sharded pub/sub on a cluster, where the channel name decides the slot. */
export interface PubSub {
  /** Event that the subscribing client emits for a message. */
  readonly event: 'message' | 'smessage';
  subscribe(client: RedisClient, channels: readonly string[]): Promise<unknown>;
  unsubscribe(client: RedisClient, channels: readonly string[]): Promise<unknown>;
  publish(client: RedisClient, channel: string, message: string): Promise<unknown>;
}

const PLAIN: PubSub = {
  event: 'message',
  subscribe: (client, channels) => client.subscribe(...channels),
  unsubscribe: (client, channels) => client.unsubscribe(...channels),
  publish: (client, channel, message) => client.publish(channel, message),
};

const SHARDED: PubSub = {
  event: 'smessage',
  subscribe: (client, channels) => client.ssubscribe(...channels),
  unsubscribe: (client, channels) => client.sunsubscribe(...channels),
  publish: (client, channel, message) => client.spublish(channel, message),
};

export function pubSubOf({ isSharded }: { readonly isSharded: boolean }): PubSub {
  return isSharded ? SHARDED : PLAIN;
}
