import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PostgresAddress } from '../../../src/gateway/postgres/connection.ts';
import { startMongo } from '../../../src/services.ts';
import { testCacheDir } from '../../../../../test/support/engine.ts';
import { isDebian } from '../support.ts';

/** Whether an engine of the tests' own can be had here. */
export const hasEngine = isDebian;

/** A PostgreSQL with the extension whose connections a test may break, as nobody else uses it. */
export interface OwnEngine extends AsyncDisposable {
  readonly postgres: PostgresAddress;
}

/** For a gateway of a test, which removes it at its end. */
export function freshSocket(): string {
  return join(tmpdir(), `${randomUUID()}.sock`);
}

/** What a driver connects to when the gateway at the socket has no users. */
export function uriOf(socket: string): string {
  return `mongodb://${encodeURIComponent(socket)}/?directConnection=true`;
}

export async function ownEngine(): Promise<OwnEngine> {
  const dataDir = mkdtempSync(join(tmpdir(), 'fanfare-gateway-'));
  const path = '/usr/sbin:/usr/bin:/sbin:/bin';
  const server = await startMongo({ dataDir, cacheDir: testCacheDir(), durability: 'fast', path });
  return {
    postgres: {
      host: join(dataDir, 'documentdb/data'),
      port: 5432,
      user: 'postgres',
      database: 'postgres',
      password: readFileSync(join(dataDir, 'postgres.password'), 'utf8').trim(),
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
