import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openHost } from '../../src/host.ts';

test.skipIf(process.platform !== 'linux')(
  'a host reports why its data folder cannot be created',
  async () => {
    const dataDir = '/proc/fanfare/data';
    const cacheDir = join(tmpdir(), 'fanfare-no-cache');
    await expect(openHost({ dataDir, cacheDir, durability: 'fast' })).rejects.toThrow(
      "mkdir '/proc/fanfare'",
    );
  },
);
