import type { Closer } from '../../src/lib/closer.ts';
import { startTcpProxy, type TcpProxy } from '../integration/realtime/tcp-proxy.ts';
import type { TestApp } from './app.ts';
import { publish, upsert } from './feed-api.ts';
import { uniqueName } from './unique-name.ts';

export interface ClientScene {
  readonly reader: string;
  /** Publishes for the reader, one after the other, and has them delivered. */
  publishMany(count: number): Promise<string[]>;
  /** Between the client and the API. */
  readonly wire: TcpProxy;
  readonly url: string;
}

/** A reader of one actor, before a server whose connections a test cuts. */
export async function openClientScene(
  app: TestApp,
  crowd: Closer,
  port: () => number = () => app.app.http?.port ?? 0,
): Promise<ClientScene> {
  const [reader, actor] = [uniqueName('reader'), uniqueName('actor')];
  await upsert(app, { pairs: [{ followerId: reader, refId: actor }] });
  const wire = crowd.own(await startTcpProxy(port));
  return {
    ...{ reader, wire, url: `http://127.0.0.1:${String(wire.port)}` },
    async publishMany(count) {
      const ids: string[] = [];
      for (let n = 0; n < count; n += 1) {
        ids.push(await publish(app, { actorId: actor }));
        await app.idle();
      }
      return ids;
    },
  };
}
