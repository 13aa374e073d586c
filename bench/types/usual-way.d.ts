// What is used of these packages, so that the types of the project can be checked without them being installed.
declare module 'graphql-redis-subscriptions' {
  import type { Redis } from 'ioredis';
  export class RedisPubSub {
    constructor(options: { readonly publisher: Redis; readonly subscriber: Redis });
    asyncIterator<T>(channel: string): AsyncIterableIterator<T>;
    close(): Promise<unknown>;
  }
}

declare module 'socket.io' {
  import type { Server as HttpServer } from 'node:http';
  export interface Socket {
    readonly handshake: { readonly auth: Readonly<Record<string, unknown>> };
    join(room: string): Promise<void> | void;
    emit(event: string, value: unknown): boolean;
  }
  export class Server {
    constructor(server: HttpServer, options: Readonly<Record<string, unknown>>);
    on(event: 'connection', listener: (socket: Socket) => void): this;
    to(room: string): { emit(event: string, value: unknown): boolean };
  }
}

declare module '@socket.io/redis-adapter' {
  import type { Redis } from 'ioredis';
  export function createAdapter(publisher: Redis, subscriber: Redis): unknown;
}
