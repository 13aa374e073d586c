export type MongodbKind = 'given' | 'mongod' | 'documentdb';
export type RedisKind = 'given' | 'redis-server' | 'valkey-server';

/** Which databases are in use, and where. Addresses of local ones contain their passwords. */
export interface Addresses {
  readonly mongodbUri: string;
  readonly mongodbKind: MongodbKind;
  readonly redisUrl: string;
  readonly redisKind: RedisKind;
}
