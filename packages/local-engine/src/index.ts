export type { Addresses, MongodbKind, RedisKind } from './addresses.ts';
export { EmbeddedError, type EmbeddedErrorCode } from './errors.ts';
export type { EmbeddedEvent, OnEmbeddedEvent } from './events.ts';
export { findRunningServices, joinRunningServices } from './running-services.ts';
export {
  startEmbeddedServices,
  startMongo,
  startRedisServer,
  type EmbeddedOptions,
  type EmbeddedServices,
  type MongoServer,
  type RedisServer,
} from './services.ts';
